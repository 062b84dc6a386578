import csv
import io
import json

from fabula.core.score import Score, Status, Summary
from fabula.reports.summary import left_out_words, render_summary, summary_lines
from fabula.reports.tables import FORMS, latex_text

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


def test_the_best_system_is_the_highest_or_the_lowest_by_direction() -> None:
    up, down = summary_lines(make_summary(), DIRECTIONS)
    assert (up.best(), down.best()) == (1, 0)


def test_no_system_is_best_on_a_tie_or_without_a_direction() -> None:
    summary = make_summary()
    summary.add("c", Score("u", "up", "", 3.0))
    tied = summary_lines(summary, DIRECTIONS)[0]
    assert tied.best() is None
    plain = summary_lines(summary, {"up": "descriptive", "down": "lower"})[0]
    assert plain.best() is None


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
    text = render_summary("latex", make_summary(), DIRECTIONS, RECORD)
    assert text.startswith("% up|rev:1\n% down|rev:1\n\\begin{tabular}{llrr}")
    assert r"\textbf{3.000}" in text
    assert latex_text("a_b & 50 %") == r"a\_b \& 50 \%"


def test_every_format_has_words_for_a_system_without_a_value() -> None:
    summary = Summary()
    summary.add(None, Score("s", "up", "", status=Status.UNDEFINED))
    for form in FORMS:
        assert render_summary(form, summary, DIRECTIONS, RECORD)
