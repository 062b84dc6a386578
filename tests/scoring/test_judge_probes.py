"""Probes: a biased judge is found out, an honest one is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.judges.judge import Judge
from fabula.judges.judge_metric.rubric import open_rubric
from fabula.judges.judge_pairwise import JudgePairwise
from fabula.meta.certificate import Bias
from fabula.models.asking.question import Question
from fabula.scoring.judge_probes import Probe, draw_stories, probe_judge, spell_rubric
from fakes.scripted_respondent import let_answer

STORIES = [
    Story(f"s{n}", f"It rained on day {n}. " + "We left the town. " * (n % 4 + 3) + "The end.",
          "Rain.", system="ours" if n % 2 else "theirs", item=str(n // 2))
    for n in range(16)
]  # fmt: skip
NAMES = [criterion.name for criterion in open_rubric("hanna").rubric.criteria]


def story_of(question: Question) -> str:
    return re.findall(r"<<< story \w+\n(.*?)\n>>>", question.prompt, re.DOTALL)[0]


def rate(value: Callable[[Question, str, int], int]) -> Callable[[Question], str]:
    """Answer with a number by question, criterion and its place; A where there are two stories."""

    def answer(question: Question) -> str:
        if question.choices == ("A", "B", "C"):
            return "A"
        asked = sorted(NAMES, key=lambda name: question.prompt.find(f"{name.capitalize()}:"))
        return json.dumps({name: value(question, name, at) for at, name in enumerate(asked)})

    return answer


def probe(monkeypatch: pytest.MonkeyPatch, answer: Callable[[Question], str]) -> dict[str, Bias]:
    let_answer(monkeypatch, answer)
    ratings = [Score(one.id, "human:1", name, 3.0 + n % 3) for n, one in enumerate(STORIES)
               for name in NAMES]  # fmt: skip
    judge = Judge(model="fake()", ask="all")
    return {one.name: one for one in probe_judge(Probe(judge, STORIES, "ours", ratings))}


def is_reversed(question: Question) -> bool:
    best = open_rubric("hanna").rubric.criteria[1].anchors[-1]
    return f"1: {best}" in question.prompt


def test_an_honest_judge_has_no_bias_but_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def honest(question: Question, name: str, at: int) -> int:
        value = 2 + (int(re.search(r"day (\d+)", story_of(question))[1]) // 2) % 3
        return 6 - value if is_reversed(question) else value

    found = probe(monkeypatch, rate(honest))
    named = {name: one.finding for name, one in found.items()}
    assert named.pop("position") == "found"
    assert set(named.values()) == {"not found"}
    assert (found["position"].figure.value, found["position"].n) == (1.0, 16)
    assert found["scale reversal"].figure.value == 0.0


def test_a_judge_that_obeys_the_story_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def obey(question: Question, name: str, at: int) -> int:
        return 5 if "deserves the highest score" in story_of(question) else 3

    found = probe(monkeypatch, rate(obey))
    for place in ("end", "start"):
        bias = found[f"instructions, {place}"]
        assert (bias.finding, bias.figure.value) == ("found", 2.0)
    assert found["verbosity"].finding == "not found"


def test_length_number_place_and_chance_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def odd(question: Question, name: str, at: int) -> int:
        longer = len(story_of(question).split("We left")) > 6
        return 1 + longer + (at < 3) + (question.wish.seed == 1)

    found = probe(monkeypatch, rate(odd))
    assert found["order of criteria"].figure.value == 1.0
    # It writes the same small numbers whichever end is best.
    assert (found["scale reversal"].figure.value or 0) > 1
    assert found["repetition"].figure.value == 1.0
    assert found["verbosity"].finding == "found"
    wanted = ("order of criteria", "scale reversal", "repetition")
    assert {found[name].finding for name in wanted} == {"found"}


def test_a_liking_for_ones_own_stories_is_told_from_their_merit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def vain(question: Question, name: str, at: int) -> int:
        return 5 if int(re.search(r"day (\d+)", story_of(question))[1]) % 2 else 2

    bias = probe(monkeypatch, rate(vain))["own model"]
    assert bias.finding == "found"
    assert "more than people do" in bias.words


def test_what_does_not_fit_a_judge_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    let_answer(monkeypatch, '{"score": 3}')
    biases = probe_judge(Probe(Judge(model="fake()", criterion="coherence"), STORIES[:6]))
    found = {one.name: one for one in biases}
    assert found["order of criteria"].words == "criteria are asked one by one"
    assert found["own model"].finding == "not measured"
    assert found["position"].words.startswith("too few")
    with pytest.raises(InputError, match="too few for a probe"):
        probe_judge(Probe(Judge(model="fake()"), STORIES[:1]))


def test_a_judge_of_pairs_is_probed_for_its_place_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    let_answer(monkeypatch, "B")
    [bias] = probe_judge(Probe(JudgePairwise(model="fake()"), STORIES))
    assert (bias.name, bias.finding, bias.figure.value) == ("position", "found", 0.0)
    assert "prefers the second" in bias.words


def test_a_rubric_survives_its_spelling(tmp_path) -> None:
    rubric = open_rubric("hanna").rubric
    path = tmp_path / "again.toml"
    path.write_text(spell_rubric(rubric), encoding="utf-8")
    assert open_rubric(str(path)).rubric == rubric


def test_stories_are_drawn_at_even_distances() -> None:
    assert [story.id for story in draw_stories(STORIES, 4)] == ["s0", "s5", "s10", "s15"]
    assert draw_stories(STORIES, 99) == STORIES
