"""Negatives by guesswork: what is changed, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.learned.training.bert import load_weights, read_shape
from fabula.learned.training.examples import ExampleSet, example_set
from fabula.learned.training.filling import fill_words
from fakes.tiny_tasks import MARKS, cut, tale

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

COUNT, SIZE = 30, 5


def runs() -> ExampleSet:
    stories = [tale(number, sentences=SIZE).split(". ") for number in range(COUNT)]
    flat = [f"{one.rstrip('.')}." for story in stories for one in story]
    members = [[SIZE * i, SIZE * i + SIZE] for i in range(COUNT)]
    items = [f"story:{i}" for i in range(COUNT)]
    return example_set(cut(flat), members, [[1.0]] * COUNT, items=items, ids=[])


def filled(start: Path, seed: int = 1) -> ExampleSet:
    shape = read_shape(start)
    weights = load_weights(start, shape, seed=0)
    return fill_words(runs(), weights, shape, device=torch.device("cpu"), seed=seed)


def test_every_story_is_there_beside_one_with_guessed_words(start):
    one = filled(start)
    half = len(one) // 2
    assert half > COUNT * 0.9
    assert one.items[:half] == one.items[half:]
    assert one.targets[:half].all() and not one.targets[half:].any()
    for place in range(half):
        story, made = one.text(place), one.text(half + place)
        places = [at for at, (a, b) in enumerate(zip(story, made, strict=True)) if a != b]
        # Eight pieces a sentence: the first one stays, and one to three others are changed.
        assert 1 <= len({at // 8 for at in places}) <= 3
        assert min(places) >= 8
        assert all(story[at] not in MARKS.values() for at in places)
        assert all(piece >= 999 for piece in made)  # guesses are words or marks of a sentence


def test_guesses_follow_from_the_seed(start):
    assert filled(start).sha256 == filled(start).sha256
    assert filled(start).sha256 != filled(start, seed=2).sha256
