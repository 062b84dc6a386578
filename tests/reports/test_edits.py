"""What is kept, as tables, records, figures and a page."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime
from xml.etree import ElementTree

import pytest

from fabula.reports.edit_page import draw_gains, draw_kept, write_edits
from fabula.reports.edits import call_tag, render_edits
from fabula.studio import edit_kinds
from fabula.studio.edit_kinds import EditedSuggestion, Told, analyse_edits
from fabula.studio.printed import printed_figures
from fabula.text.kept_words import spell_name
from fakes.capital_tagger import tag_capitals

TEXT = "Then Mara saw Hale beside Brindle harbour. Tobin rowed home in silence."
KEPT = "Then Mara saw Hale. Tobin rowed home in silence, and slept."
TOLD = Told((spell_name("Mara"),), (spell_name("Brindle"),))


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(edit_kinds, "tag_text", tag_capitals)
    monkeypatch.setattr(edit_kinds, "tagger_trait", lambda tags: "capitals")


def analyse(machines=("top-k", "nucleus"), count=12):
    return analyse_edits(
        [
            EditedSuggestion(
                f"s{number}", machines[number % len(machines)], f"a{number % 6}", f"g{number}",
                TEXT, KEPT if number % 3 else "Nobody came.",
                datetime(2027, 1 + number % 3, 1, tzinfo=UTC), TOLD,
            )
            for number in range(count)
        ],
        resamples=50,
    )  # fmt: skip


def test_tables_have_shares_with_intervals_and_the_papers_figures_beside():
    text = str(render_edits("table", analyse(), printed_figures()))
    assert "STORIUM prints 15.6 (top-k) and 9.9 (nucleus)." in text
    assert "proper nouns are 29.5 % of kept, 13.5 % of written" in text
    assert "of kept names 63 % are known, 37 % new" in text
    [row] = [line for line in text.splitlines() if line.strip().startswith("of a character")]
    # Of twelve suggestions eight kept Mara.
    assert re.search(r"12 +8 .* 66\.7 \[", row)
    assert "12 suggestions, 12 games, 6 authors." in text
    assert "cite: user|" in text and "tagger:capitals" in text


def test_records_hold_every_share_and_null_for_what_is_missing():
    analysis = analyse()
    rows = json.loads(render_edits("json", analysis, printed_figures()))
    assert rows["suggestions"] == 12 and rows["printed"]["known names"] == 0.63
    [share] = [
        row for row in rows["rows"]
        if (row["machine"], row["kind"], row["name"]) == ("all", "words", "PROPN")
    ]  # fmt: skip
    assert (share["generated"], share["kept"]) == (48, 24)
    assert share["rate"] == 0.5 and share["rate_low"] < 0.5
    [user] = [r for r in rows["rows"] if (r["machine"], r["kind"]) == ("all", "suggestions")]
    assert user["of_kept"] is None
    read = list(csv.DictReader(io.StringIO(render_edits("csv", analysis, printed_figures()))))
    assert len(read) == len(rows["rows"])


@pytest.mark.parametrize(
    "kind", ["suggestions", "words", "names", "known", "sentences", "time", "experience"]
)
@pytest.mark.parametrize("machines", [("one",), ("one", "two", "three", "four")])
def test_every_kind_has_a_figure_that_is_well_formed(kind, machines):
    svg = draw_kept(analyse(machines), kind)
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert "nan" not in svg.lower().replace("nano", "")


def test_a_gain_is_drawn_in_points_with_both_shares_under_the_pointer():
    svg = draw_gains(analyse())
    # Proper nouns: 4 of 12 words that were written, 3 of the 9 that were kept where any were.
    assert "33.3 % of written, 33.3 % of kept" in svg


def test_a_page_is_written_with_its_tables_and_figures(tmp_path):
    page = write_edits(tmp_path / "out", analyse(), printed_figures(), source="<export>")
    text = page.read_text(encoding="utf-8")
    assert "What is kept: &lt;export&gt;" in text and "<export>" not in text
    assert (tmp_path / "out" / "figures" / "words.svg").exists()
    with (tmp_path / "out" / "tables" / "words.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} == {"words"}
    (nouns,) = [row for row in rows if (row["machine"], row["name"]) == ("all", "PROPN")]
    assert float(nouns["rate_low"]) <= float(nouns["rate"]) <= float(nouns["rate_high"])
    for row in rows:
        assert float(row["rate"]) == pytest.approx(float(row["kept"]) / float(row["generated"]))
    assert json.loads((tmp_path / "out" / "edits.json").read_text(encoding="utf-8"))["authors"] == 6


def test_parts_of_speech_are_called_as_people_do():
    assert (call_tag("PROPN"), call_tag("WEIRD")) == ("proper nouns", "weird")
