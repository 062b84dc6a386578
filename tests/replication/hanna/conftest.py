"""HANNA's printed numbers beside ours, computed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.replication.hanna import Printed, read_printed, replicate
from fabula.reports.study_view import PrintedValue
from fakes.hanna_figures import hanna


@pytest.fixture(scope="session")
def printed(shared: Path) -> Printed:
    return read_printed(shared / "reference" / "hanna_expected.json")


@pytest.fixture(scope="session")
def replicated(shared: Path, printed: Printed) -> list[PrintedValue]:
    return list(replicate(hanna(shared), printed))
