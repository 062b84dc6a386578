"""HANNA's printed numbers beside ours, computed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.scoring.hanna import Printed, Replicated, read_printed, replicate
from hanna_figures import hanna


@pytest.fixture(scope="session")
def printed(shared: Path) -> Printed:
    return read_printed(shared / "reference" / "hanna_expected.json")


@pytest.fixture(scope="session")
def replicated(shared: Path, printed: Printed) -> list[Replicated]:
    return list(replicate(hanna(shared), printed))
