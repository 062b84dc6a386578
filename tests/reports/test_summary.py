import csv
import io
import json
import re

from fabula.core.score import Score, Status, Summary
from fabula.core.story import Story
from fabula.reports.standings import Standings, StreamedScores
from fabula.reports.summary import left_out_words, render_summary
from fabula.reports.tables import FORMS
from fabula.text.escapes import latex_text

RECORD = {
    "metrics": [
        {"spec": "up", "signature": "up|rev:1", "short_signature": "up|r1"},
        {"spec": "down", "signature": "down|rev:1", "short_signature": "down|r1"},
    ]
}
DIRECTIONS = {"up": "higher", "down": "lower"}


def make_summary() -> Summary:
    summary = Summary()
    for system, high, low in (("a", 1.0, 0.25), ("b", 3.0, 0.5)):
        summary.add(system, Score("s", "up", "", high))
        summary.add(system, Score("s", "down", "", low))
    summary.add("b", Score("t", "down", "", status=Status.EMPTY_TEXT, note="no text"))
    return summary


def make_standings(apart: bool) -> Standings:
    """Systems a and b over four items each; where they are not apart, b is twice as bad as good."""
    streamed = StreamedScores()
    for item, shift in enumerate((0.0, 0.1, 0.2, 0.0 if apart else -9.0)):
        for system, high, low in (("a", 1.0, 0.25), ("b", 3.0, 0.5)):
            story = Story(f"{system}{item}", "x", system=system, item=str(item))
            up = high + (shift if system == "b" else 0.0)
            streamed.add(story, Score(story.id, "up", "", up))
            streamed.add(story, Score(story.id, "down", "", low + item / 1000))
    return streamed.standings(DIRECTIONS)


def test_a_system_is_marked_only_where_its_interval_is_better_than_every_other() -> None:
    def bold(standings: Standings | None) -> list[str]:
        text = render_summary("latex", make_summary(), DIRECTIONS, RECORD, standings)
        return re.findall(r"textbf{([^}]*)}", text)

    assert bold(make_standings(apart=True)) == ["3.000", "0.2500"]
    assert bold(make_standings(apart=False)) == ["0.2500"]
    assert bold(None) == []


def test_a_table_says_where_no_system_can_be_marked() -> None:
    for form in ("table", "latex"):
        text = render_summary(form, make_summary(), DIRECTIONS, RECORD)
        assert "No system is marked as the best" in text
        marked = make_standings(apart=True)
        text = render_summary(form, make_summary(), DIRECTIONS, RECORD, marked)
        assert "No system is marked" not in text


def test_what_is_left_out_is_said_in_words() -> None:
    assert left_out_words(make_summary()) == ["down: 1 left out, empty_text (no text)"]


def test_the_table_marks_means_that_leave_scores_out() -> None:
    text = render_summary("table", make_summary(), DIRECTIONS, RECORD)
    assert "0.5000*" in text
    assert "* down: 1 left out, empty_text" in text
    assert "signatures: up|r1 down|r1" in text


def test_programs_read_the_means_and_the_signatures() -> None:
    text = render_summary("csv", make_summary(), DIRECTIONS, RECORD)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["mean"]) for row in rows] == [1.0, 3.0, 0.25, 0.5]
    assert rows[0]["signature"] == "up|rev:1"
    lines = render_summary("jsonl", make_summary(), DIRECTIONS, RECORD).splitlines()
    assert json.loads(lines[3])["why"] == {"empty_text": 1}


def test_latex_escapes_names_and_prints_signatures_as_comments() -> None:
    text = render_summary("latex", make_summary(), DIRECTIONS, RECORD, make_standings(apart=True))
    assert text.startswith("% up|rev:1\n% down|rev:1\n\\begin{tabular}{llrr}")
    assert r"\textbf{3.000}" in text
    assert latex_text("a_b & 50 %") == r"a\_b \& 50 \%"


def test_every_format_has_words_for_a_system_without_a_value() -> None:
    summary = Summary()
    summary.add(None, Score("s", "up", "", status=Status.UNDEFINED))
    for form in FORMS:
        assert render_summary(form, summary, DIRECTIONS, RECORD)
