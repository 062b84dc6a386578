"""Near duplicates: estimates beside exact overlaps, and which story stays."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from fabula.scoring.filtering.duplicates import (
    SIGNATURE,
    choose_bands,
    find_duplicates,
    list_runs,
    make_signatures,
)
from fabula.scoring.lazy_run import open_lazily
from fakes.large_runs import make_rows, write_in_parts, write_scored

_LEXICON = [f"word{number}" for number in range(3000)]


def spoil(words: list[str], count: int, chance: random.Random) -> list[str]:
    """Change some words of a story, each at a place of its own."""
    spoiled = list(words)
    for place in chance.sample(range(len(words)), count):
        spoiled[place] = chance.choice(_LEXICON)
    return spoiled


def overlap(one: str, other: str) -> float:
    a, b = list_runs(one), list_runs(other)
    return len(a & b) / len(a | b)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Families of stories: each an original, near copies, and far ones."""
    chance = random.Random(4)
    told = []
    for _ in range(25):
        words = [chance.choice(_LEXICON) for _ in range(200)]
        told += [" ".join(spoil(words, count, chance)) for count in (0, 1, 2, 12, 40)]
    chance.shuffle(told)
    return told


def test_runs_of_words_are_those_of_the_text() -> None:
    assert list_runs("The lamp went out, and nobody lit it.") == {
        "the lamp went out and", "lamp went out and nobody", "went out and nobody lit",
        "out and nobody lit it",
    }  # fmt: skip
    assert list_runs("Gone.") == {"gone"} and list_runs("") == {""}
    assert len(list_runs("海は静かだった")) == 3  # characters are words there


def test_signatures_estimate_the_overlap_of_stories(texts: list[str]) -> None:
    signatures = make_signatures(texts)
    assert signatures.shape == (125, SIGNATURE)
    pairs = [(a, b) for a, b in combinations(range(125), 2) if overlap(texts[a], texts[b]) > 0]
    errors = [
        (signatures[a] == signatures[b]).mean() - overlap(texts[a], texts[b]) for a, b in pairs
    ]
    # The standard error of 128 draws is at most .044.
    assert abs(np.mean(errors)) < 0.01 and np.std(errors) < 0.05 and len(errors) >= 200


@pytest.mark.parametrize(
    ("threshold", "bands", "rows"), [(0.8, 25, 5), (0.5, 64, 2), (1.0, 1, 128), (0.05, 128, 1)]
)
def test_bands_let_few_pairs_slip(threshold: float, bands: int, rows: int) -> None:
    assert choose_bands(threshold) == (bands, rows)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, texts: list[str]):
    home = tmp_path_factory.mktemp("duplicates")
    rows = [{"id": f"s{n}", "text": text, "system": "x"} for n, text in enumerate(texts)]
    folder = write_in_parts(write_scored(home / "run", rows, "words"), home / "parts", size=17)
    with open_lazily(folder) as opened:
        yield opened


@pytest.mark.parametrize("reverse", [False, True])
def test_those_that_stay_are_far_from_each_other_and_near_all_that_go(
    run, texts: list[str], reverse: bool
) -> None:
    places = np.arange(len(texts))
    ranks = places[::-1].copy() if reverse else places
    found = find_duplicates(run, places, threshold=0.8, ranks=ranks)
    stay = found.stay.tolist()
    assert sorted([*stay, *found.near]) == list(range(len(texts)))
    slack = 0.12  # three standard errors of an estimate
    for a, b in combinations(stay, 2):
        assert overlap(texts[a], texts[b]) < 0.8 + slack
    for gone, near in found.near.items():
        assert near in stay and overlap(texts[gone], texts[near]) > 0.8 - slack
        assert (near > gone) == reverse  # who comes first in the order stays
    # Of each family the original and its two near copies are one, the far ones are not.
    assert len(stay) == 25 * 3


def test_only_the_stories_given_are_looked_at(run, texts: list[str]) -> None:
    some = np.arange(0, len(texts), 2)
    found = find_duplicates(run, some, threshold=0.8, ranks=np.arange(len(some)))
    assert set(found.stay.tolist()) | set(found.near) == set(some.tolist())


def test_a_thousand_copies_are_one_story(tmp_path: Path) -> None:
    rows = [{"id": str(n), "text": "The same old tale told once more to all."} for n in range(1000)]
    rows += [{"id": "empty", "text": ""}, {"id": "blank", "text": " \n"}]
    with open_lazily(write_scored(tmp_path / "run", rows, "words")) as run:
        found = find_duplicates(run, np.arange(1002), threshold=0.9, ranks=np.arange(1002))
    assert found.stay.tolist() == [0, 1000]
    assert found.near[1001] == 1000 and found.near[999] == 0


def test_the_same_seed_finds_the_same(tmp_path: Path) -> None:
    with open_lazily(write_scored(tmp_path / "run", make_rows(), "words")) as run:
        places = np.arange(run.count)
        first, again = (
            find_duplicates(run, places, threshold=0.3, ranks=places, seed=7) for _ in range(2)
        )
    assert first.near == again.near and 35 in first.near  # the last copies the first
