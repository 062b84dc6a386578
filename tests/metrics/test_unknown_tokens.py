"""Texts that a model has no tokens for: they are all alike to it, which is no likeness."""

from __future__ import annotations

import math

import pytest

from fabula.core.model import TokenCount
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.models.fake import FakeModel
from fabula.models.reading.tokens import count_ids
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fakes.contract_specs import ASKED, NAMES, faked, settings_of
from fakes.factories import usual_text

# The fake model does not know signs of private use.
FOXES, ROCKETS = "\ue001 \ue002. \ue001 \ue003!", "\ue010 \ue011. \ue011 \ue012!"
WITH_A_MODEL = [name for name in NAMES if settings_of(METRICS.get(name)) & ASKED]
# Their words are counted by whether they have a vector.
BY_WORDS = ("rouge_we", "s3", "wmd")
# Their models look for nouns in pictures, and no token is unknown to them.
BY_PICTURES = ("rovist", "rovist_vg", "tiger")
# A language model is asked in words, and says itself what it cannot read.
JUDGES = [name for name in NAMES if METRICS.get(name).card.family == "judge"]
BY_TOKENS = [name for name in WITH_A_MODEL if name not in (*BY_WORDS, *BY_PICTURES, *JUDGES)]


def story(text: str, *references: str, prompt: str = "A dragon wakes.") -> Story:
    return Story("s", text, prompt, references or (usual_text(300, seed=1),), ())


def readings(name: str, *stories: Story):
    metric = faked(METRICS.build(name))
    return metric.read(list(stories))


@pytest.mark.parametrize("name", BY_TOKENS)
def test_a_text_of_unknown_tokens_has_no_value_and_says_why(name):
    [reading] = readings(name, story(FOXES, ROCKETS, FOXES, prompt=ROCKETS))
    assert reading.status is Status.UNDEFINED
    assert all(map(math.isnan, reading.values)) and reading.coverage == 0
    assert "unknown to fake" in reading.note


@pytest.mark.parametrize("name", BY_TOKENS)
def test_one_odd_sign_in_a_long_story_costs_coverage_and_not_the_value(name):
    text = usual_text(700, seed=4)
    [whole] = readings(name, story(text))
    [odd] = readings(name, story(f"{text} \ue001."))
    assert odd.status is whole.status
    if odd.status is Status.OK:
        assert 0.98 * whole.coverage < odd.coverage < whole.coverage


def test_the_note_counts_the_tokens():
    [reading] = readings("bertscore", story("\ue001 \ue002 a \ue003"))
    assert reading.note == "3 of 4 tokens are unknown to fake"
    [reading] = readings("bertscore", story("\ue001"))
    assert reading.note == "1 of 1 token is unknown to fake"
    [reading] = readings("bertscore", story("Once upon", "\ue001 \ue002"))
    assert reading.note == "2 of 2 tokens of the reference are unknown to fake"
    [reading] = readings("supert", story("Once upon", prompt="\ue001 \ue002"))
    assert reading.note == "2 of 2 tokens of the prompt are unknown to fake"


def test_half_of_the_tokens_may_be_unknown():
    [reading] = readings("bertscore", story("Once \ue001 upon \ue002"))
    assert reading.status is Status.OK and reading.coverage == 0.5


def test_a_reference_of_unknown_tokens_is_left_out_beside_others():
    text, known = usual_text(300, seed=2), usual_text(300, seed=3)
    alone, beside = readings("moverscore", story(text, known), story(text, FOXES, known))
    assert alone == beside


def test_rare_tokens_are_counted_alike_by_the_engine_and_by_the_metric():
    stories = [
        Story("a", usual_text(200, seed=5), None, (usual_text(200, seed=6), FOXES), ()),
        Story("b", FOXES, None, (usual_text(200, seed=7),), ()),
        Story("c", usual_text(200, seed=8), None, (usual_text(200, seed=9),), ()),
    ]
    metric = faked(METRICS.build("bertscore(idf=True)"))
    assert list(map(repr, evaluate(stories, metric.spec))) == list(map(repr, metric.score(stories)))


@pytest.mark.parametrize("name", BY_WORDS)
def test_words_without_a_vector_count_against_coverage(name):
    # Words without a letter have no vector in the fake.
    text = "once upon 12 time a king lived here"
    reading, none = readings(name, story(text, text), story("12 34 56 king", text))
    assert reading.coverage == (0.75 if name == "wmd" else 7 / 8)  # stop words are left out
    assert none.status is Status.UNDEFINED and "of 4 tokens are unknown to fake" in none.note


def test_a_blank_that_stands_by_itself_is_no_token_of_a_text():
    assert count_ids((3, 2, 3, 2), ("▁", "🦊", "▁", "🐻"), 2) == TokenCount(2, 2)
    assert count_ids((5, 6), ("a", "b"), None) == TokenCount(2, 0)
    assert TokenCount(0, 0).known == 1


def test_the_fake_says_what_it_does_not_know():
    assert FakeModel().count_unknown(["a \ue001.", ""]) == [TokenCount(3, 1), TokenCount(0, 0)]


@pytest.mark.assets
@pytest.mark.parametrize("name", ["bertscore", "moverscore", "infolm", "t5score", "criteria"])
def test_foxes_are_no_rockets_to_real_models(name):
    emoji = Story("s", "🦊🐻🦊", "🦊", ("🚀🌋🌋",), ())
    [reading] = METRICS.build(name).read([emoji])
    assert reading.status is Status.UNDEFINED
    assert reading.note.startswith("1 of 1 token is unknown to ")
