from __future__ import annotations

import pytest

from fabula.core.story import Story
from fabula.judges.judge_metric.long_stories import cut_text, measure_question, part_story
from fabula.models.asking.question import Question
from fabula.models.servers.wire import Wish
from fakes.scripted_respondent import ScriptedRespondent


def count(text: str) -> int:
    return len(text.split())


TEXT = " ".join(f"This is sentence number {n} of them." for n in range(60))


@pytest.mark.parametrize("room", [8, 30, 100, 1000])
def test_pieces_make_the_text_again_and_fit(room):
    pieces = cut_text(TEXT, room, count)
    assert "".join(pieces) == TEXT
    assert all(count(piece) <= room for piece in pieces)


def test_the_last_piece_is_filled_first():
    *_, before, last = cut_text(TEXT, 50, count)
    # Sentences of seven words: seven of them fit.
    assert count(last) == 49
    assert before.rstrip().endswith("number 52 of them.")


def test_a_sentence_that_is_too_long_is_cut_anywhere():
    text = "word " * 100
    pieces = cut_text(text, 10, count)
    assert "".join(pieces) == text
    assert all(count(piece) <= 10 for piece in pieces)
    assert "".join(cut_text("x" * 50, 10, len)) == "x" * 50


def ask(view):
    return Question("q", f"{view.summary} {view.text} what?", wish=Wish(10))


def test_a_story_is_parted_so_that_every_question_fits_into_the_window():
    respondent = ScriptedRespondent(lambda question: "", window=400)
    parted = part_story(respondent, Story("s", TEXT, "A prompt."), 400, ask)
    assert parted is not None
    assert "".join(parted.parts) == TEXT
    questions = list(parted.ask_summaries("s", temperature=0.0, seed=0))
    assert len(questions) == len(parted.parts) - 1
    assert all(measure_question(respondent, question) <= 400 for question in questions)
    summaries = ["word " * parted.summary_tokens for _ in questions]
    shown = parted.show(summaries)
    # "Part 1:" stands before each summary.
    assert measure_question(respondent, ask(shown)) <= 400 + 2 * len(questions)
    assert shown.coverage == pytest.approx(len(parted.parts[-1]) / len(TEXT))


def test_where_even_summaries_would_not_fit_there_are_no_parts():
    respondent = ScriptedRespondent(lambda question: "", window=200)
    assert part_story(respondent, Story("s", TEXT * 40), 200, ask) is None
    assert part_story(respondent, Story("s", TEXT), 60, ask) is None
