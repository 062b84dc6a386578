from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.datasets import load_dataset
from fabula.datasets.releases.storyer_kinds import tell_kind
from fabula.datasets.storyer import load
from fakes.release_samples import GOLD, HALF, LAMP, SHRUG, lines, pair, put

NAME = "train_rank_small.jsonl"
PAIRS = [pair(LAMP, HALF, GOLD), pair(LAMP, HALF, SHRUG), pair("[WP]: A second sun", GOLD, SHRUG)]


def refused(folder: Path, *rows: Any) -> str:
    with pytest.raises(InputError) as caught:
        load(put(folder, {NAME: lines(*rows)}))
    return str(caught.value)


def test_a_text_that_comes_again_under_its_prompt_is_one_story(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, {NAME: lines(*PAIRS)}))
    assert [story.id for story in dataset.stories] == ["1.1", "1.2", "1.3", "2.1", "2.2"]
    assert dataset.preferences == (
        Preference("1.1", "1.2", "upvotes"),
        Preference("1.1", "1.3", "upvotes"),
        Preference("2.1", "2.2", "upvotes"),
    )


def test_tags_become_line_ends_and_the_tag_of_a_prompt_goes(tmp_path: Path) -> None:
    first, *_, last = load(put(tmp_path, {NAME: lines(*PAIRS)})).stories
    assert first.text == "She asked for a boat.\n\nShe got a bow."
    assert first.prompt == "A lamp that grants half a wish ." and first.item == "1"
    assert last.prompt == "A second sun" and last.item == "2"


def test_the_original_pickle_gives_the_same_but_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "all pairs.pkl"
    path.write_bytes(pickle.dumps([list(row.values()) for row in PAIRS]))
    dataset = load(path)
    same = load(put(tmp_path, {NAME: lines(*PAIRS)}))
    assert dataset.stories == same.stories and dataset.preferences == same.preferences
    assert same.card.counts and not dataset.card.counts


def test_a_pair_that_cannot_be_one_is_named(tmp_path: Path) -> None:
    assert "line 1: target -1 is not 1" in refused(tmp_path, PAIRS[0] | {"c3": -1})
    assert "field 'poor' is missing" in refused(tmp_path, {"prompt": "a", "good": "b"})
    assert "field 'good' holds a int, not text" in refused(tmp_path, PAIRS[0] | {"good": 1})


def test_a_row_of_the_pickle_that_is_too_short_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train_rank_small.pkl"
    path.write_bytes(pickle.dumps([["a prompt", "a story"]]))
    with pytest.raises(InputError, match="row 1: not 5 values"):
        load(tmp_path)


def test_a_pair_that_comes_again_or_is_none_is_left_out_and_counted(tmp_path: Path) -> None:
    rows = [*PAIRS, PAIRS[0], PAIRS[0], pair(LAMP, GOLD, GOLD), pair(LAMP, GOLD, HALF)]
    dataset = load(put(tmp_path, {NAME: lines(*rows)}))
    assert len(dataset.preferences) == 4
    assert dataset.card.quirks[-3:] == (
        "Left out: 2 pairs that came before.",
        "Left out: 1 pair of a story with itself.",
        "1 pair of stories told both ways round.",
    )


def test_all_parts_of_a_release_in_a_folder_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "rank_test.pkl").write_bytes(
        pickle.dumps([list(pair(LAMP, GOLD, SHRUG).values()), list(PAIRS[0].values())])
    )
    (tmp_path / "val-ranking.pickle").write_bytes(pickle.dumps([list(PAIRS[2].values())]))
    put(tmp_path, {"train_rank.jsonl": lines(*PAIRS[:2]), "frank.jsonl": "no pairs"})
    dataset = load(tmp_path)
    assert dataset.preferences == (
        Preference("1.1", "1.2", "upvotes"),
        Preference("1.1", "1.3", "upvotes"),
        Preference("2.1", "2.2", "upvotes"),
        Preference("1.2", "1.3", "upvotes"),
    )
    assert not dataset.card.counts
    assert dataset.card.quirks[-2:] == (
        "Left out: 1 pair that came before.",
        "1 prompt with pairs in several files: a test would know them.",
    )


def test_a_table_of_ones_own_names_the_better_and_the_worse_story(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(
        "prompt,better,worse\nA cat.,It slept<br>long.,Cat cat.\nA cat.,It ran.,Cat cat.\n"
    )
    dataset = load_dataset("storyer", file)
    assert dataset.counts | {"stories": 3, "items": 1, "pairs": 2} == dataset.counts
    texts = {story.id: story.text for story in dataset.stories}
    assert [texts[one.better] for one in dataset.preferences] == ["It slept\nlong.", "It ran."]
    assert {texts[one.worse] for one in dataset.preferences} == {"Cat cat."}
    file.write_text("better,worse\nIt slept.,Cat cat.\n")
    with pytest.raises(InputError, match="line 2: field 'prompt' is missing; known: better, worse"):
        load_dataset("storyer", file)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.jsonl", '{"prompt": "P", "good": "A.", "poor": "B."}', "storyer"),
        ("a.csv", "prompt,better,worse\nP,A.,B.", "storyer"),
        ("a.csv", "better,worse\n1,2", ""),
        ("a.json", '[{"story": "A.", "comments": []}]', "storyer_ratings"),
        ("a.csv", "story,rating\nA.,3", ""),
        ("a.txt", "prompt good poor", ""),
        ("a.pkl", pickle.dumps([["P", "A.", "B.", 1, 1]]), "storyer"),
        ("a.pkl", pickle.dumps([("A.", 0.5)]), "storyer_ratings"),
    ],
)
def test_the_form_of_a_file_is_told_by_what_it_holds(tmp_path, name, text, kind) -> None:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert tell_kind(tmp_path / name) == kind
