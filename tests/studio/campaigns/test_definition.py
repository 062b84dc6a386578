"""The campaign file: what it says, and what is refused with its place."""

from __future__ import annotations

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.studio.campaigns.definition import make_definition, read_definition

SCALE = {"name": "coherence", "kind": "scale", "text": "Does it make sense?"}
CHOICE = {"name": "who", "kind": "choice", "text": "Who?", "choices": ["person", "machine"]}
BEST = {"name": "best", "kind": "best", "text": "Which is best?"}


def make(**changed):
    plain = {"name": "try", "title": "A try", "instructions": "Read.", "questions": [SCALE]}
    return make_definition({**plain, **changed}, "try.toml")


def test_a_file_is_read_into_a_definition(tmp_path):
    path = tmp_path / "campaign.toml"
    path.write_text(
        """
name = "first"
title = "First"
instructions = "Read *all* of it."
raters = 5

[show]
prompt = true
fields = ["comment"]

[checks]
floor_s = 30
agreement = 0.1

[[questions]]
name = "coherence"
kind = "scale"
text = "Does it make sense?"
anchors = ["none", "little", "some", "much", "all"]
""",
        encoding="utf-8",
    )
    definition = read_definition(path)
    assert definition.raters == 5
    assert definition.show.fields == ("comment",)
    assert definition.checks.floor_s == 30.0
    assert definition.checks.agreement == 0.1
    assert definition.question("coherence").values == (1, 2, 3, 4, 5)
    assert (definition.unit, definition.shown) == ("story", 1)


def test_a_file_that_is_no_toml_is_named(tmp_path):
    (tmp_path / "bad.toml").write_text("name = ", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.toml is no TOML"):
        read_definition(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rater": 3}, "rater is no field that is known; .*raters"),
        ({"raters": "three"}, "raters must be a whole number, not 'three'"),
        ({"raters": 0}, "at least one rater"),
        ({"name": "A name"}, "name 'A name' will not do"),
        ({"unit": "triple"}, "unit must be one of"),
        ({"unit": "group", "size": 1}, "a group of 1 will not do; write size = 2 to"),
        ({"questions": []}, "nothing is asked"),
        ({"questions": [SCALE, SCALE]}, "two questions coherence"),
        ({"questions": [BEST]}, "best compares stories, and a task shows 1"),
        ({"questions": [SCALE | {"high": 1}]}, r"questions\[0\]: question coherence: a scale"),
        ({"questions": [SCALE, CHOICE | {"choices": ["a"]}]}, r"questions\[1\]: .*two different"),
        ({"questions": [SCALE | {"anchors": ["a"]}]}, "has 1 anchors for 5 numbers"),
        ({"questions": [SCALE | {"kind": "stars"}]}, r"questions\[0\].kind must be one of"),
        ({"show": {"prompts": True}}, r"show\.prompts is no field"),
        ({"checks": {"planted": 1}}, r"checks: planted = 1: it is one task in so many"),
        ({"checks": {"planted": 9}}, r"no stories to plant; write \[\[planted\]\]"),
        ({"checks": {"floor_s": -1}}, r"checks: floor_s = -1.0 will not do"),
        ({"checks": {"agreement": 2}}, "is no correlation"),
        ({"pay": {"amount": -1}}, "pay: amount or expected_s is below 0"),
        (
            {"stop": {"question": "coherense", "half_width": 0.2}},
            "'coherense' is no scale that is asked; .*coh",
        ),
        ({"stop": {"question": "coherence", "half_width": 0}}, "stop: half_width"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_will_not_do_is_named_with_its_place(changed, words):
    with pytest.raises(SettingError, match=f"^try.toml: .*{words}"):
        make(**changed)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({}, r"training\[0\]: a training story asks nothing"),
        (
            {"coherence": [6]},
            r"answers\.coherence = \[6\] cannot be answered; write some of \[1, 2",
        ),
        ({"coherence": []}, "cannot be answered"),
        ({"who": ["ghost"]}, "write some of \\['person', 'machine'\\]"),
        ({"best": [1]}, "answers.best is no scale and no choice"),
    ],
)
def test_training_asks_for_answers_that_can_be_given(answers, words):
    story = {"text": "It rained.", "feedback": "Look again.", "answers": answers}
    with pytest.raises(SettingError, match=words):
        make(questions=[SCALE, CHOICE, BEST], unit="pair", training=[story])


def test_training_knows_scales_and_choices():
    story = {
        "text": "It rained.",
        "feedback": "…",
        "answers": {"coherence": [4, 5], "who": ["person"]},
    }
    made = make(questions=[SCALE, CHOICE], training=[story])
    assert made.training[0].answers == {"coherence": (4, 5), "who": ("person",)}


def test_a_group_shows_as_many_stories_as_its_size():
    made = make(unit="group", size=4, within="all", questions=[SCALE, BEST])
    assert (made.shown, made.within) == (4, "all")
    assert made.question("best").compares
    assert not made.question("coherence").compares
