"""What every metric of the catalogue promises, whatever it measures."""

from __future__ import annotations

import pickle
import random
from dataclasses import fields
from importlib.util import find_spec

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.core.errors import UserError
from fabula.core.score import Score, Status
from fabula.core.settings import kinds_of
from fabula.core.story import Story
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fakes.contract_specs import (
    ALONE,
    COMPARING,
    NAMES,
    OTHER,
    SHORT,
    SPECS,
    check,
    full_story,
    metric_of,
)
from fakes.factories import make_story, same, usual_text


def comparable(scores: list[Score]) -> dict[tuple[str, str], tuple[str, Status, str]]:
    """What must not change, by story and aspect."""
    return {(s.story, s.aspect): (repr(s.value), s.status, s.note) for s in scores}


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("kind", SHORT)
def test_any_text_has_a_value_or_a_reason(spec, kind):
    metric, text = metric_of(spec), SHORT[kind]
    for references in [(OTHER,), (text,), (), ("",), (OTHER, text, " ")]:
        check(metric, metric.score([full_story(text, *references)]))
    check(metric, metric.score([full_story(OTHER, text)]))


@pytest.mark.parametrize("spec", SPECS)
def test_an_empty_story_is_missing_and_not_zero(spec):
    for text in ("", " \n"):
        scores = metric_of(spec).score([full_story(text, OTHER)])
        assert {score.status for score in scores} == {Status.EMPTY_TEXT}


@pytest.mark.parametrize("spec", SPECS)
def test_a_story_without_what_the_metric_needs_says_what(spec):
    metric = metric_of(spec)
    for need in metric.card.needs:
        lacking = Story("s", OTHER, None if need == "prompt" else "p", (), ())
        if need == "reference" or metric.card.needs[0] == need:
            [status] = {score.status for score in metric.score([lacking])}
            assert status.startswith("missing_")


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=15)
@given(text=st.text(), references=st.lists(st.text(), max_size=2))
def test_any_text_that_can_be_thought_of_has_a_value_or_a_reason(spec, text, references):
    metric = metric_of(spec)
    check(metric, metric.score([full_story(text, *references)]))
    check(metric, metric.score([full_story(text, text)]))


MIXED = [
    full_story(text, *((OTHER,) if i % 3 else (usual_text(300, i),)), id=f"{i}")
    for i, text in enumerate([*SHORT.values(), *(usual_text(200 + 40 * n, n) for n in range(9))])
]


@pytest.mark.parametrize("spec", SPECS)
def test_scores_do_not_depend_on_the_order_of_the_stories(spec):
    metric = metric_of(spec)
    forth = comparable(metric.score(MIXED))
    assert comparable(metric.score(MIXED[::-1])) == forth
    assert comparable(metric.score(random.Random(5).sample(MIXED, len(MIXED)))) == forth


@pytest.mark.parametrize("spec", ALONE)
def test_scores_do_not_depend_on_the_other_stories_unless_the_card_says_so(spec):
    metric = metric_of(spec)
    alone = [score for story in MIXED for score in metric_of(spec).score([story])]
    assert comparable(alone) == comparable(metric.score(MIXED))
    assert [score.story for score in alone] == [score.story for score in metric.score(MIXED)]


@pytest.mark.parametrize("spec", SPECS)
def test_scoring_twice_and_by_the_engine_gives_the_same(spec):
    metric = metric_of(spec)
    first = metric.score(MIXED)
    assert comparable(list(evaluate(MIXED, spec))) == comparable(first)


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_rebuilds_its_metric(spec):
    metric = metric_of(spec)
    again = METRICS.build(metric.spec)
    assert again == metric
    assert hash(again) == hash(metric)
    assert (again.spec, again.signature()) == (metric.spec, metric.signature())
    assert metric.signature().startswith(metric.spec + "|")
    assert metric.signature(short=True).startswith(metric.spec + "|")


@pytest.mark.parametrize("spec", SPECS)
def test_a_metric_pickles_even_after_it_was_used(spec):
    metric = METRICS.build(spec)
    scores = metric.score([full_story(OTHER, "Once a dragon")])
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric
    others = again.score([full_story(OTHER, "Once a dragon")])
    assert all(same(one.value, other.value) for one, other in zip(scores, others, strict=True))


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_is_named_after_its_file(name):
    cls = METRICS.get(name)
    assert cls.name == name
    if cls.__module__.startswith("fabula."):
        rooms = ("metrics", "learned", "judges")
        assert cls.__module__ in {f"fabula.{room}.{name}" for room in rooms}
        assert find_spec(cls.__module__) is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_what_a_reader_needs(name):
    card = METRICS.get(name).card
    assert card.title and card.paper and card.formula and card.compat and card.cannot_see
    assert card.direction in ("higher", "lower", "descriptive")
    assert card.arrow in "↑↓–"
    assert card.low < card.high
    assert len(set(card.aspects)) == len(card.aspects) > 0
    assert "reference" not in card.needs or card.references
    assert METRICS.get(name).__doc__
    assert METRICS.get(name).revision >= 1


@pytest.mark.parametrize("name", NAMES)
def test_what_a_card_mentions_can_be_built(name):
    card = METRICS.get(name).card
    for spec in card.typical:
        assert METRICS.build(spec).name == name
    for columns in card.published.values():
        for spec, aspect in columns.values():
            assert METRICS.build(spec).compat
            assert aspect in card.aspects


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_setting_is_for_the_user_to_mend(name):
    with pytest.raises(UserError, match=f"{name} has no setting 'no_such_setting'"):
        METRICS.build(f"{name}(no_such_setting=1)")
    with pytest.raises(UserError, match=f"{name} takes"):
        METRICS.build(f"{name}({', '.join('1' * 30)})")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", ["[]", "{}", "()", "b''", "1j", "{1}", "1e999", "'\\x00'", "..."])
def test_a_setting_of_the_wrong_type_is_for_the_user_to_mend(name, bad):
    for setting in kinds_of(METRICS.get(name)):
        with pytest.raises(UserError):
            METRICS.build(f"{name}({setting}={bad})")


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_has_a_default_that_can_be_spelled(name):
    cls = METRICS.get(name)
    for field in fields(cls):
        spelled = f"{name}({field.name}={field.default!r})"
        assert METRICS.build(spelled) == cls()
        assert METRICS.build(spelled).spec == name


@pytest.mark.parametrize("spec", COMPARING)
def test_references_that_are_equal_to_the_text_are_as_good_as_it_gets(spec):
    metric = metric_of(spec)
    text = usual_text(600, seed=8)
    same_text = metric.score([make_story(text, text)])
    other_text = metric.score([make_story(text, OTHER)])
    for one, other in zip(same_text, other_text, strict=True):
        assert not (one.ok and other.ok) or one.value >= other.value
