"""What a learned metric notices: shares by hand, and the section of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.reports.cards import card_page
from fabula.reports.notices import (
    MetricNotices,
    Notice,
    Notices,
    make_notices,
    notice_section,
    read_notices,
    write_notices,
)
from fabula.scoring.catalogue import METRICS
from fabula.scoring.stress import stress

STORIES = [
    Story(str(number), f"Mara came home. {'It rained. ' * number}The lamp was out. She sat down.")
    for number in range(6)
]


@pytest.fixture
def notices() -> Notices:
    result = stress(STORIES, "words, storyer(weights='fake')", perturbations="truncate, spacing")
    return make_notices(result, "6 made-up stories")


def test_a_share_is_that_of_the_stories_thought_worse(notices: Notices) -> None:
    assert list(notices.metrics) == ["words", "storyer(weights='fake')"]
    [(aspect, by_change)] = notices.metrics["words"].aspects.items()
    assert aspect == ""
    broken = by_change["truncate"]
    assert (broken.share, broken.low, broken.high, broken.stories) == (1.0, 0.61, 1.0, 6)
    # Of 10, 12, … 20 words half go, or one more: at least 7.5 of 15; the deviation is 3.742.
    assert -8.5 / 3.742 < broken.moved <= -7.5 / 3.742
    assert by_change["spacing"] == Notice(0.5, 0.188, 0.812, 6, 0.0)  # not one of six moved
    assert list(notices.metrics["storyer(weights='fake')"].aspects) == [""]  # no percentile


def test_what_was_written_is_read_again(notices: Notices, tmp_path: Path) -> None:
    write_notices(notices, tmp_path / "notices.json")
    assert read_notices(tmp_path / "notices.json") == notices
    (tmp_path / "other.json").write_text('{"stories": 3}')
    with pytest.raises(InputError, match=r"stories must be .* write it again: python benchmarks"):
        read_notices(tmp_path / "other.json")


def test_a_section_has_a_row_for_every_change_and_a_column_for_every_aspect() -> None:
    shuffled, quoted = Notice(0.79, 0.655, 0.882, 40, -0.41), Notice(0.5, 0.35, 0.65, 40, 0.0)
    known = {"": {"shuffle": shuffled, "quotes": quoted}, "extra": {"shuffle": quoted}}
    section = notice_section("m", Notices("40 stories", {"m": MetricNotices("m|rev:1", known)}))
    assert section.startswith("**What it notices.** Of 40 stories, how many are thought worse")
    assert "With `m|rev:1`." in section
    assert "| puts the sentences out of order | 79 [66, 88] | 50 [35, 65] |" in section
    assert "| turns straight quotes curly, or curly ones straight | 0.00 | – |" in section
    assert notice_section("other", Notices("40 stories")) == ""


def test_the_page_of_a_learned_metric_says_what_it_notices_and_that_of_a_count_does_not() -> None:
    assert "What it notices" in card_page(METRICS.get("coherence"))
    assert "What it notices" not in card_page(METRICS.get("words"))
