"""A story beside its pictures: where each noun is seen best, and one number of all."""

from __future__ import annotations

import math

import pytest

from fabula.core.errors import InputError
from fabula.learned.grounding.story import ground_story, list_found, pool_story, weigh_by
from fabula.text.grounding import NounCounts
from fabula.text.nouns import Noun
from fakes.grounding import ToldGrounder, name_picture

EQUAL = weigh_by("off")
DOG, CAT, AGAIN = Noun("dog", 0, 2, 5), Noun("cat", 0, 10, 13), Noun("dog", 1, 20, 23)


def ground(told, nouns, weigh=EQUAL):
    return ground_story(nouns, [name_picture(name) for name in told], ToldGrounder(told), weigh)


def places(story):
    return [(noun.noun.text, noun.match, noun.picture, noun.region) for noun in story.nouns]


def test_a_noun_is_where_it_is_seen_best_over_all_regions_of_all_pictures():
    told = {
        "a": {"dog": [0.1, 0.4], "cat": [0.3, 0.3]},
        "b": {"dog": [0.2, 0.1, 0.9], "cat": [0.3, 0.2, 0.1]},
    }
    story = ground(told, [DOG, CAT, AGAIN])
    # Of equal matches the first counts, and a noun of two sentences stands in both.
    assert places(story) == [("dog", 0.9, 1, 2), ("cat", 0.3, 0, 0), ("dog", 0.9, 1, 2)]
    assert [noun.noun.sentence for noun in story.nouns] == [0, 0, 1]
    assert [sight.picture.name for sight in story.sights] == ["a", "b"]


def test_a_noun_is_looked_for_once():
    grounder = ToldGrounder({"a": {"dog": [0.5]}})
    ground_story([DOG, AGAIN], [name_picture("a")], grounder, EQUAL)
    assert grounder.looks == [(("a",), ("dog",))]


def test_a_noun_nobody_knows_has_no_match_and_does_not_count():
    story = ground({"a": {"dog": [-0.2]}}, [DOG, CAT])
    assert math.isnan(story.nouns[1].match) and story.nouns[1].picture is None
    assert [noun.noun for noun in list_found(story)] == [DOG]
    assert pool_story(story) == pytest.approx(-0.2)


def test_pictures_without_a_region_are_passed_over():
    story = ground({"a": {}, "b": {"dog": [0.25]}}, [DOG])
    assert places(story) == [("dog", 0.25, 1, 0)]
    nothing = ground({"a": {}}, [DOG])
    assert nothing.sights[0].similarities.shape == (0, 1)
    assert math.isnan(pool_story(nothing)) and not list_found(nothing)


def test_matches_are_pooled_times_what_their_nouns_weigh():
    counts = NounCounts()
    for nouns in (["dog"], ["dog", "cat"], ["sea"], ["sea"]):
        counts.add(nouns)
    story = ground({"a": {"dog": [0.5], "cat": [0.8]}}, [DOG, CAT], weigh_by("run", counts))
    weighted = [math.log(4 / 3) * 0.5, math.log(4 / 2) * 0.8]
    assert [noun.weight for noun in story.nouns] == pytest.approx([math.log(4 / 3), math.log(2)])
    total = math.log(sum(map(math.exp, weighted)))
    assert pool_story(story, "lse") == pytest.approx(total)
    assert pool_story(story) == pytest.approx(total - math.log(2))


def test_weights_come_of_the_run_of_a_table_or_are_all_one(tmp_path):
    table = tmp_path / "mine.tsv"
    table.write_text("# stories\t10\ndog\t9\ncat\t4\n")
    mine = weigh_by(str(table))
    assert (mine("dog"), mine("cat")) == pytest.approx((0.0, math.log(2)))
    assert EQUAL("dog") == EQUAL("never seen") == 1.0
    assert weigh_by("examples")("time") < weigh_by("examples")("lighthouse")
    everywhere = NounCounts(1, {"dog": 1})
    assert weigh_by("run", everywhere)("dog") == 0.0
    assert weigh_by("run", everywhere, compat=True)("dog") == pytest.approx(-math.log(2))


def test_a_run_has_to_be_counted_and_a_table_to_be_there(tmp_path):
    with pytest.raises(ValueError, match="have not been counted"):
        weigh_by("run")
    with pytest.raises(InputError, match="no_such"):
        weigh_by(str(tmp_path / "no_such.tsv"))
