import csv
import io
import json
import re

import pytest

from fabula.core.score import Score, Status, Summary
from fabula.core.story import Story
from fabula.metrics.bleu import Bleu
from fabula.reports.standings import Standings, StreamedScores
from fabula.reports.summary import cite_table, judge_words, left_out_words, render_summary
from fabula.reports.tables import FORMS
from fabula.scoring.catalogue import label_scorers
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
    assert left_out_words(make_summary(), 3) == ["1 of 3 stories has no text: left out by down"]


def fill(summary: Summary, metrics: int, status: Status, note: str, stories: int = 1) -> None:
    for number in range(metrics):
        for story in range(stories):
            score = Score(f"s{story}", f"m{number}", "", status=status, note=note)
            summary.add(None, score)


def test_one_empty_text_and_one_missing_reference_are_two_lines() -> None:
    summary = Summary()
    fill(summary, 31, Status.EMPTY_TEXT, "the story has no text")
    fill(summary, 18, Status.MISSING_REFERENCE, "give the story a reference")
    assert left_out_words(summary, 56) == [
        "1 of 56 stories has no text: left out by 31 metrics",
        "1 of 56 stories has no reference: left out by 18 metrics that need one",
    ]


def test_each_remedy_is_said_once_with_the_metrics_that_miss_it() -> None:
    summary = Summary()
    for metric in ("bertscore", "moverscore"):
        score = Score("a", metric, "f", status=Status.MISSING_MODEL, note="get minilm")
        summary.add(None, score)
        summary.add(None, Score("b", metric, "f", status=Status.EMPTY_TEXT))
    summary.add(None, Score("a", "meteor", "", status=Status.FAILED, note="it broke"))
    assert left_out_words(summary, 2) == [
        "1 of 2 stories has no text: left out by BERTScore, MoverScore",
        "BERTScore, MoverScore: left out, get minilm",
        "METEOR: 1 of 2 stories left out, failed: it broke",
    ]


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_every_status_has_words_for_few_and_all_stories(status: Status) -> None:
    for stories in (1, 2, 9):
        summary = Summary()
        fill(summary, 5, status, "why", stories=2)
        [line] = left_out_words(summary, stories)
        assert "5 metrics" in line or "m0, m1" in line
    summary = Summary()
    fill(summary, 2, status, "")
    assert len(left_out_words(summary, 4)) == 1


def test_none_of_the_stories_having_a_prompt_reads_so() -> None:
    summary = Summary()
    fill(summary, 4, Status.MISSING_PROMPT, "", stories=3)
    assert left_out_words(summary, 3) == [
        "no story has a prompt: left out by 4 metrics that need one"
    ]


def test_metrics_that_left_out_different_numbers_of_stories_say_up_to() -> None:
    summary = Summary()
    for story, scorer in (("a", "x"), ("b", "x"), ("a", "y")):
        summary.add(None, Score(story, scorer, "", status=Status.UNDEFINED, note="too short"))
    assert left_out_words(summary, 8) == [
        "x, y: up to 2 of 8 stories left out, undefined: too short"
    ]


def test_a_citation_says_once_what_the_signatures_share() -> None:
    signatures = {
        "bleu": "bleu|tok:13a|sacrebleu:2.6.0|rev:1|fabula:0.9.0",
        "rouge(n=2)": "rouge(n=2)|tok:unicode|rev:1|fabula:0.9.0",
        "words": "words|tok:unicode|rev:1|fabula:0.9.0",
        "mattr": "mattr|tok:unicode|rev:2|fabula:0.9.0",
    }
    assert cite_table(signatures, 56, "0123456789abcdef") == (
        "fabula 0.9.0 | 56 stories sha256:0123456789ab | rev:1 tok:unicode | "
        "bleu[tok:13a sacrebleu:2.6.0] rouge(n=2) words mattr[rev:2]"
    )
    assert cite_table({"bleu": signatures["bleu"]}) == (
        "fabula 0.9.0 | bleu[tok:13a sacrebleu:2.6.0 rev:1]"
    )


def test_specs_are_called_as_people_call_them() -> None:
    called = {
        ("rouge", "f"): "ROUGE-L F1",
        ("rouge(n=2)", "f"): "ROUGE-2 F1",
        ("rouge(n=2, stem=False)", "recall"): "ROUGE-2 recall (stem=False)",
        ("distinct(n=4)", ""): "Distinct-4",
        ("bertscore", "f"): "BERTScore F1",
        ("bleu", ""): "BLEU",
        ("mattr", ""): "MATTR",
        ("human:ann", "plot"): "human:ann plot",
        ("not_here(a=1)", ""): "not_here(a=1)",
    }
    assert label_scorers(called) == called


def test_two_specs_never_share_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bleu, "label", lambda self, aspect="": "BLEU")
    keys = [("bleu", ""), ("bleu(order=1)", ""), ("chrf", "")]
    assert list(label_scorers(keys).values()) == ["bleu", "bleu(order=1)", "chrF"]


def test_the_table_marks_means_that_leave_scores_out() -> None:
    text = render_summary("table", make_summary(), DIRECTIONS, RECORD)
    assert "0.5000*" in text
    assert "* 1 of 3 stories has no text: left out by down" in text
    assert text.splitlines()[-1].startswith("cite: fabula ")
    assert text.splitlines()[-1].endswith(" | rev:1 | up down")


def test_programs_read_the_means_and_the_signatures() -> None:
    text = render_summary("csv", make_summary(), DIRECTIONS, RECORD)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["mean"]) for row in rows] == [1.0, 3.0, 0.25, 0.5]
    assert rows[0]["signature"] == "up|rev:1"
    lines = render_summary("jsonl", make_summary(), DIRECTIONS, RECORD).splitlines()
    assert json.loads(lines[3])["why"] == {"empty_text": 1}


def test_latex_escapes_names_and_prints_signatures_as_comments() -> None:
    text = render_summary("latex", make_summary(), DIRECTIONS, RECORD, make_standings(apart=True))
    lines = text.splitlines()
    assert lines[0].startswith("% fabula ") and lines[1:3] == ["% up|rev:1", "% down|rev:1"]
    assert lines[3] == "% * 1 of 3 stories has no text: left out by down"
    assert lines[4] == r"\begin{tabular}{llrr}"
    assert r"\textbf{3.000}" in text
    assert latex_text("a_b & 50 %") == r"a\_b \& 50 \%"


def test_every_format_has_words_for_a_system_without_a_value() -> None:
    summary = Summary()
    summary.add(None, Score("s", "up", "", status=Status.UNDEFINED))
    for form in FORMS:
        assert render_summary(form, summary, DIRECTIONS, RECORD)


def test_judges_are_shown_with_their_verdict_or_without_a_certificate(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    assert judge_words([("rouge", "f"), ("words", "")]) == []
    [words] = judge_words([("judge(model='fake')", "coherence"), ("rouge", "f")])
    assert words.startswith("judge(model='fake'): no certificate.")
