"""What every test may use: the folder of shared material, and how hypothesis searches."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

REPO = Path(__file__).resolve().parents[1]

settings.register_profile(
    "fabula", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("fabula")

# Tests run side by side: one thread each, or they wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# As in an environment that is activated: messages then say `fabula …` and `pip …` alone.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

# No test finds vectors that another one has left in the user's cache.
os.environ["FABULA_VECTORS_MB"] = "0"


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their argument: an archive holds the time at which it was made, and
    workers that import a test a second apart must give it one name.
    """
    return argname if isinstance(val, bytes) else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name what passed only the second time, and what went wrong the first."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"RERUN {report.nodeid}")
        terminalreporter.line(report.longreprtext)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the material that lies beside the repository and is no part of it."""
    folder = REPO.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the shared material is not beside the repository")
    return folder


@pytest.fixture(scope="session")
def summeval(shared: Path) -> dict[str, Any]:
    """Values printed in SummEval's own tests."""
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    values: dict[str, Any] = golden["summeval_tests"]
    return values


@pytest.fixture
def spacy_small() -> None:
    """spaCy's small model, for tests that carry the mark `assets`; skips where it is not pulled."""
    from fakes.assets import need_asset

    pytest.importorskip("spacy")
    need_asset("spacy_small")
