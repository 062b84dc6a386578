from __future__ import annotations

import math
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.replication.hanna.paper import metric_name, read_printed
from fabula.reports.study_view import PrintedValue


def test_a_number_holds_within_its_tolerance() -> None:
    assert PrintedValue("T", "x", 23.11, 23.115, 0.0051).holds
    assert not PrintedValue("T", "x", 23.11, 21.52, 0.0051).holds
    assert PrintedValue("T", "x", 0.5, 0.5, 0.0).holds


def test_what_is_undefined_does_not_hold() -> None:
    assert not PrintedValue("T", "x", 0.5, math.nan, 1.0).holds


def test_a_row_has_the_difference() -> None:
    assert PrintedValue("T", "x", 1.0, 1.25, 0.1, "why").row() == {
        "table": "T", "what": "x", "printed": 1.0, "ours": 1.25, "difference": 0.25,
        "holds": False, "note": "why",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("header", "name"),
    [("BLEU Ξ§", "BLEU"), ("ROUGE-1 Recall Ξ§", "ROUGE-1 Recall"), ("Novelty-1 ¤§", "Novelty-1")],
)
def test_a_metric_is_called_without_its_glyphs(header: str, name: str) -> None:
    assert metric_name(header) == name


def test_values_stand_under_their_tables(tmp_path: Path) -> None:
    path = tmp_path / "printed.json"
    path.write_text('{"tables": {"tab4": {}}, "williams": {"p": 0.5}}', encoding="utf-8")
    found = read_printed(path)
    assert found.tables == {"tab4": {}} and found.values["williams"] == {"p": 0.5}


@pytest.mark.parametrize("text", [None, "", "{", "\udcff"])
def test_a_file_that_is_none_is_named(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "printed.json"
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"printed\.json: no file of printed values") as caught:
        read_printed(path)
    assert "\n" not in str(caught.value)
