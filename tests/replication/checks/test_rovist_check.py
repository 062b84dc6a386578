from __future__ import annotations

from pathlib import Path

from fabula.replication.checks.metric_values import check_rovist
from fakes.release_samples import SAMPLES, put


def test_the_check_says_why_it_cannot_be_made(tmp_path: Path) -> None:
    (nothing,) = check_rovist(tmp_path)
    put(tmp_path / "data" / "rovist_scores", SAMPLES["rovist"])
    (part,) = check_rovist(tmp_path)
    assert {nothing.outcome, part.outcome} == {"not checked here"}
    assert "needs rovist_scores" in nothing.found and "where the release has" in part.found
