"""What every data set keeps: a whole card, files that are named, a made-up release that loads."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.datasets import DATASETS, load_dataset
from fabula.datasets.releases.verify import digest_file
from fakes.release_samples import FOLDERS, SAMPLES, put

# Not published by others: written for this project, or a user's own.
OWN = {"examples", "storium_samples", "table", "visual_survey"}
# Their own tests make them up.
ELSEWHERE = {*OWN, "hanna", "hanna_llm", "storium"}
PUBLISHED = sorted({*DATASETS.names()} - OWN)
# Stories, items, systems, ratings, scores and pairs of each made-up release, counted by hand.
COUNTS = {
    "storyer": (5, 2, 0, 0, 0, 3),
    "storyer_ratings": (2, 2, 0, 4, 2, 0),
    "mans": (6, 3, 2, 30, 0, 0),
    "union": (2, 2, 0, 14, 4, 0),
    "coherence": (2, 0, 0, 3, 2, 0),
    "manplts": (7, 3, 2, 0, 7, 3),
    "rocstories": (2, 0, 0, 0, 0, 0),
    "writingprompts": (4, 3, 0, 0, 0, 0),
    "vist": (5, 2, 3, 0, 0, 0),
    "rovist": (2, 0, 0, 0, 4, 0),
    "lamp": (4, 3, 2, 5, 0, 0),
    "narratives": (3, 0, 0, 41, 0, 0),
    "coauthor": (8, 2, 2, 0, 8, 5),
    "storycloze": (4, 2, 0, 0, 0, 2),
}
published = pytest.mark.parametrize("name", PUBLISHED)
sampled = pytest.mark.parametrize("name", SAMPLES)


def content(dataset: Dataset) -> tuple[object, ...]:
    ratings, scores = list(dataset.ratings), list(dataset.scores)
    return dataset.stories, ratings, scores, dict(dataset.scorers), dataset.preferences


@published
def test_a_few_rows_in_the_form_of_the_release_are_at_hand(name: str) -> None:
    wanted = f"make up a few rows of it in tests/fakes/releases/{name}"
    assert name in SAMPLES or name in ELSEWHERE, wanted


@pytest.mark.parametrize("name", COUNTS)
def test_nothing_of_a_release_is_lost(name: str, tmp_path: Path) -> None:
    dataset = load_dataset(name, put(tmp_path, SAMPLES[name]), partial=True)
    assert tuple(dataset.counts.values()) == COUNTS[name]


@sampled
def test_plain_and_gzipped_files_give_the_same(name: str, tmp_path: Path) -> None:
    plain = put(tmp_path / "plain", SAMPLES[name])
    packed = tmp_path / "packed"
    for file in SAMPLES[name]:
        path = packed / f"{file}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress((plain / file).read_bytes()))
    dataset = load_dataset(name, plain, partial=True)
    assert dataset.name == name and dataset.stories
    assert content(load_dataset(name, packed, partial=True)) == content(dataset)


@sampled
def test_a_release_of_another_size_is_refused_unless_a_part_will_do(
    name: str, tmp_path: Path
) -> None:
    put(tmp_path, SAMPLES[name])
    with pytest.raises(InputError, match=r"where the release has .* pass --partial"):
        load_dataset(name, tmp_path)


@published
def test_a_folder_without_the_files_says_which_one_is_wanted(name: str, tmp_path: Path) -> None:
    files = [file.lstrip("*") for file in DATASETS.get(name).CARD.files]
    for path in (tmp_path, tmp_path / "nowhere", None):
        with pytest.raises(InputError, match=r"is not there|no exported games") as caught:
            DATASETS.get(name).load(path)
        assert any(file in str(caught.value) for file in files)


@pytest.mark.parametrize("name", DATASETS.names())
def test_a_card_says_what_to_cite_and_knows_the_files(name: str) -> None:
    card = DATASETS.get(name).CARD
    assert name in OWN or re.search(r"\(\d{4}\)", card.citation)
    assert card.title and card.about and card.licence and card.source
    assert card.files.keys() >= card.checksums.keys()
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in card.checksums.values())


@sampled
def test_ratings_lie_on_the_scale_and_scores_have_a_card(name: str, tmp_path: Path) -> None:
    dataset = DATASETS.get(name).load(put(tmp_path, SAMPLES[name]))
    for score in dataset.ratings:
        low, high = dataset.card.scale(score.aspect)
        assert low <= score.value <= high and score.scorer.startswith("human:")
    assert set(dataset.scores.scorers) == set(dataset.scorers)
    known = {story.id for story in dataset.stories}
    assert all({one.better, one.worse} <= known for one in dataset.preferences)


@sampled
def test_the_whole_release_holds_what_the_card_says(name: str, shared: Path) -> None:
    folder = shared / "data" / FOLDERS[name]
    if not folder.is_dir():
        pytest.skip(f"{name} is not among the shared material")
    dataset = load_dataset(name, folder)
    assert dataset.card.counts
    for file, digest in dataset.card.checksums.items():
        path = folder / file
        assert digest_file(path if path.exists() else path.with_name(f"{path.name}.gz")) == digest
