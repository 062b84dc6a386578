"""What will do as an answer, kind by kind."""

from __future__ import annotations

import pytest

from fabula.core.errors import InputError
from fabula.studio.campaigns.answer_rules import check_answers
from fabula.studio.campaigns.definition import Question
from fakes.open_campaign import make_campaign_definition

A, B, C = "a" * 32, "b" * 32, "c" * 32
TEXTS = {A: "One story.", B: "Two.", C: "Three."}


def ask(question, value, *, is_whole=True, texts=TEXTS):
    definition = make_campaign_definition(
        unit="group", size=3, questions=(Question(text="What?", name="q", **question),)
    )
    return check_answers(definition, texts, {"q": value}, is_whole=is_whole).get("q")


SPANS = {"kind": "spans", "choices": ("good", "bad"), "reason": True, "least": 1}
ASPECTS = {"kind": "aspects", "choices": ("plot", "style", "end"), "least": 1, "most": 2}
SPAN = {"start": 0, "stop": 3, "label": "good", "reason": "short"}


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ({"kind": "scale"}, {A: 1, B: 5, C: 3}),
        ({"kind": "choice", "choices": ("yes", "no")}, {A: "yes", B: "no", C: "no"}),
        ({"kind": "text", "least": 2}, {A: "very good", B: "a b", C: "so so"}),
        ({"kind": "text", "required": False}, {A: "good"}),
        ({"kind": "best"}, B),
        ({"kind": "best", "ties": True}, "tie"),
        ({"kind": "best_worst"}, {"best": A, "worst": C}),
        ({"kind": "ranking"}, [C, A, B]),
        (SPANS, {A: [SPAN], B: [SPAN], C: [SPAN]}),
        (ASPECTS, {story: {"plot": {"rating": 2, "reason": "thin"}} for story in TEXTS}),
    ],
)
def test_a_good_answer_is_kept_as_it_is(question, value):
    assert ask(question, value) == value


@pytest.mark.parametrize(
    ("question", "value", "problem"),
    [
        ({"kind": "scale"}, {A: 0, B: 1, C: 1}, "0 will not do"),
        ({"kind": "scale"}, {A: 2.0, B: 1, C: 1}, "2.0 will not do"),
        ({"kind": "scale"}, {A: 2, B: 1}, "story 3 is not answered"),
        ({"kind": "choice", "choices": ("yes", "no")}, {A: "maybe"}, "no choice"),
        ({"kind": "text", "least": 2}, {A: "good", B: "a b", C: "a b"}, "1 words"),
        ({"kind": "text"}, {A: "  ", B: "a", C: "a"}, "story 1 is not answered"),
        ({"kind": "best"}, "tie", "no choice"),
        ({"kind": "best"}, "d" * 32, "no choice"),
        ({"kind": "best"}, None, "not answered yet"),
        ({"kind": "best_worst"}, {"best": A, "worst": A}, "both best and worst"),
        ({"kind": "best_worst"}, {"best": A}, "the worst is missing"),
        ({"kind": "ranking"}, [A, B], "every story once"),
        ({"kind": "ranking"}, [A, B, B], "every story once"),
        (SPANS, {A: [SPAN | {"stop": 11}]}, "11 will not do"),
        (SPANS, {A: [SPAN | {"label": "odd"}]}, "no choice"),
        (SPANS, {A: [SPAN | {"reason": " "}]}, "no reason"),
        (SPANS, {A: [SPAN]}, "story 2 is not answered"),
        (ASPECTS, {A: {"plot": {"reason": "thin"}}}, "None will not do"),
        (ASPECTS, {A: {name: {"rating": 1} for name in ("plot", "style", "end")}}, "3 are chosen"),
        (ASPECTS, {A: {"rhyme": {"rating": 1}}}, "no choice"),
    ],
)
def test_a_bad_answer_is_refused_with_the_name_of_its_question(question, value, problem):
    with pytest.raises(InputError, match=problem) as refused:
        ask(question, value)
    assert refused.value.problem.startswith("q: ")


@pytest.mark.parametrize(
    ("question", "value", "kept"),
    [
        ({"kind": "scale"}, {A: 2, B: None}, {A: 2}),
        ({"kind": "best"}, None, None),
        ({"kind": "best_worst"}, {"best": A}, {"best": A}),
        ({"kind": "ranking"}, [C], [C]),
        (ASPECTS, {A: {"plot": {}}}, {A: {"plot": {"rating": None, "reason": ""}}}),
        (
            SPANS,
            {A: [{"start": 4, "stop": 6}, {"start": 0, "stop": 1}]},
            {A: [{"start": 0, "stop": 1, "label": "", "reason": ""},
                 {"start": 4, "stop": 6, "label": "", "reason": ""}]},
        ),
    ],
)  # fmt: skip
def test_what_is_half_done_can_be_saved(question, value, kept):
    assert ask(question, value, is_whole=False) == kept


def test_nothing_to_mark_is_an_answer_unless_so_many_are_asked_for():
    assert ask({"kind": "spans"}, {A: []}) is None
    assert ask({"kind": "spans"}, {}) is None
