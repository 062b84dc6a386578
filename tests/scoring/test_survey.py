from __future__ import annotations

from collections.abc import Callable

import pytest

from fabula.core.errors import InputError
from fabula.core.metric import Metric
from fabula.core.story import Story
from fabula.scoring.survey import survey


def test_a_doubled_id_names_both_stories() -> None:
    doubled = [Story("a", "x"), Story("b", "y"), Story("a", "z")]
    with pytest.raises(InputError, match="story 3 has the id 'a' of story 1"):
        survey(doubled, [])


def test_no_stories_are_an_error() -> None:
    with pytest.raises(InputError, match="no stories"):
        survey([], [])


def test_the_count_and_digest_do_not_depend_on_order(stories: list[Story]) -> None:
    one, other = survey(stories, []), survey(stories[::-1], [])
    assert one.count == other.count == 70
    assert one.digest.hex() == other.digest.hex()


def test_only_batch_metrics_have_batches(stories: list[Story], toy: Callable[..., Metric]) -> None:
    metrics = [toy("counted"), toy("spread")]
    found = survey(stories, metrics)
    assert list(found.batches) == ["spread"]
    assert sorted(found.batches["spread"].digests) == ["a", "b", "c"]


def test_a_story_without_text_is_in_the_digest_of_its_batch_but_not_gathered(
    toy: Callable[..., Metric],
) -> None:
    found = survey([Story("1", " "), Story("2", "text")], [toy("spread")])
    batches = found.batches["spread"]
    assert batches.gathered[""].count == 1
    assert batches.digests[""].count == 2
