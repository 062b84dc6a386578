"""The check of writers' scores on made-up paragraphs: values by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.learned.reader.fake import fake_config
from fabula.learned.training.pairs import Pair
from fabula.replication.checks import learned_writers
from fabula.replication.checks._learned import score_baselines
from fabula.replication.checks.learned_storyer import StoryPairs
from fabula.replication.checks.learned_writers import find_edits, find_scored
from fabula.replication.unseen import UnseenValues

ITEMS = 12


def paragraphs() -> Dataset:
    """Twelve paragraphs and an edit of each, as long and one point better."""
    stories, scores = [], []
    for number in range(ITEMS):
        for version, text in enumerate(("It was very dark.", "Night fell at once.")):
            name = f"train:{2 * number + version}"
            words = text + " The sea lay there." * (number % 5)
            stories.append(Story(name, words, system=f"version {version}", item=str(number)))
            scores.append(Score(name, "human:1", "overall", 3.0 + version + number % 4))
    card = DatasetCard("made up", "made up", "none")
    return Dataset("lamp", card, tuple(stories), ScoreTable(stories, scores))


def unseen(values: np.ndarray, known: int = 2 * ITEMS) -> UnseenValues:
    names = np.array([f"lamp:train:{number}" for number in range(known)])
    arrays = {"ids/writers": names, "writers/writers": np.stack([values[:known]] * 3)}
    return UnseenValues(fake_config(), arrays)


def test_a_reader_that_knows_the_scores_is_verified_and_one_that_counts_words_is_not() -> None:
    dataset = paragraphs()
    scores = np.array([score.value for score in dataset.ratings])
    stories, gold = find_scored(dataset, unseen(scores))
    assert gold.tolist() == scores.tolist()
    counted = score_baselines(stories)
    first, *_, given = learned_writers._check_scores(stories, gold, {"writers": scores, **counted})
    assert first.outcome == "verified"
    assert first.found.startswith("ρ 1.000 [1.000, 1.000] (seeds 1.000), 24 paragraphs of 12 items")
    assert given.found.startswith("1.000")
    columns = {"writers": counted["words"], **counted}
    assert next(learned_writers._check_scores(stories, gold, columns)).outcome == "short"


def test_a_paragraph_is_held_against_its_own_edit() -> None:
    dataset = paragraphs()
    scores = np.array([score.value for score in dataset.ratings])
    stories, gold = find_scored(dataset, unseen(scores))
    better, worse = find_edits(stories, gold)
    assert better.tolist() == [*range(1, 24, 2)] and worse.tolist() == [*range(0, 24, 2)]
    right_in_three = np.where(np.arange(24) < 6, scores, -scores)
    columns = {"writers": right_in_three, **score_baselines(stories)}
    everything, alike = learned_writers._check_edits(stories, gold, columns)
    assert everything.found.startswith("0.250 [") and "of 12 pairs" in everything.found
    # An edit has as many words as its paragraph: lengths tell nothing of any pair.
    assert "words 0.500" in everything.found and "of 12 pairs" in alike.found


def test_only_paragraphs_that_the_weights_were_measured_on_count() -> None:
    dataset, values = paragraphs(), np.arange(24.0)
    stories, _ = find_scored(dataset, unseen(values, known=5))
    assert [story.id for story in stories] == [f"train:{number}" for number in range(5)]
    with pytest.raises(InputError, match="measured on no paragraph of lamp"):
        find_scored(dataset, UnseenValues(fake_config(), {"ids/writers": np.array(["lamp:x"])}))
    lacking = UnseenValues(replace(fake_config(), scales={}), {})
    with pytest.raises(InputError, match="holds no ids/writers"):
        find_scored(dataset, lacking)


def test_what_writers_prefer_is_held_against_the_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"1.1": "A day.", "1.2": "A night.", "2.1": "A year.", "2.2": "One long and cold year."}
    stories = [Story(name, text, item=name[0]) for name, text in texts.items()]
    pairs = StoryPairs.of([Pair(stories[0], stories[1]), Pair(stories[2], stories[3])])
    said = {"1.1": 6.5, "1.2": 5.0, "2.1": 4.0, "2.2": 7.0}
    asked = []

    def score(stories: Sequence[Story], spec: str) -> np.ndarray:
        asked.append(spec)
        return np.array([said[story.id] for story in stories])

    monkeypatch.setattr(learned_writers, "score_stories", score)
    never_met = UnseenValues(fake_config(), {})
    found = learned_writers._check_votes(pairs, never_met)
    assert asked == ["writers(weights='permissive')"]
    # One pair of two as readers; the shorter story was liked once of one, the other pair is a tie.
    assert found.outcome == "reported" and found.found.startswith("0.500 [")
    assert "of 2 pairs (chance .5); words 0.250" in found.found
    assert "less than 15% 1.000 [1.000, 1.000] of 1" in found.found
    met = UnseenValues(fake_config(), {"ids/preference": np.array([*texts])})
    with pytest.raises(InputError, match="learned from votes"):
        learned_writers._check_votes(pairs, met)
