"""Tasks made into examples, from made-up data sets in a folder."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fabula import datasets
from fabula.core.errors import InputError, SettingError
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.learned.training import tasks
from fabula.learned.training.examples import ExampleSet
from fabula.learned.training.recipe import ReaderRecipe, read_recipe
from fabula.learned.training.stories import open_tokeniser
from fabula.learned.training.tasks import prepare
from fabula.text.features import feature_row
from fakes import tiny_tasks
from fakes.release_samples import lines, pair, put
from fakes.tiny_tasks import tale, write_tiny_encoder

NUMBERS: dict[str, int] = {}


def cut(texts: Sequence[str]) -> list[list[int]]:
    """Number the words of texts, each word by itself."""
    found = [re.findall(r"\w+|[^\w\s]", text) for text in texts]
    return [[NUMBERS.setdefault(word, len(NUMBERS)) for word in some] for some in found]


SENTENCES = [
    "The {} king rode home to his tower.",
    "A queen sang by the {} river at night.",
    "Then the old dog ran to the {} gate.",
    "Nobody saw where the {} cat had gone.",
    "In the morning they found a {} crown.",
]
KINDS = (
    "bright dull kind rude brave cold warm loud calm quick slow green blue small tall odd".split()
)


def roc(number: int) -> list[str]:
    return [
        f"{KINDS[number % 16].title()} {KINDS[number * 7 % 16]} number {number} began the day."
        if place == 0
        else one.format(f"{KINDS[(number * (place + 3) + place) % 16]} {number}")
        for place, one in enumerate(SENTENCES)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("data")
    put(
        folder / "storyer",
        {
            "train_rank_small.jsonl": lines(
                *(
                    pair(f"prompt {i // 2}", tale(i, good=0.9), tale(50 + i, good=0.1))
                    for i in range(8)
                )
            )
        },
    )
    (folder / "rocstories").mkdir()
    with (folder / "rocstories" / "ROCStories_made_up.csv").open("w", newline="") as file:
        write = csv.writer(file)
        write.writerow(["storyid", "storytitle", *(f"sentence{i}" for i in range(1, 6))])
        for number in range(60):
            write.writerow([f"s{number}", f"title {number}", *roc(number)])
    rows = [
        {"id": f"t{i}", "item": f"i{i // 3}", "system": "ab"[i % 2], "text": tale(200 + i),
         "prompt": f"Prompt {i // 3}.", "human:ann:good": i % 5 + 1, "human:ben:good": 3,
         "human:ann:bad": "" if i % 4 else 2, "plausible": i % 2}
        for i in range(12)
    ]  # fmt: skip
    with (folder / "table.csv").open("w", newline="") as file:
        write_rows = csv.DictWriter(file, list(rows[0]))
        write_rows.writeheader()
        write_rows.writerows(rows)
    return folder


@pytest.fixture
def short_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release may hold fewer stories than the published one."""
    monkeypatch.setattr(datasets, "check_counts", lambda found: found)


def made(folder: Path, /, left_out: Sequence[str] = (), **task) -> ExampleSet:
    settings = {"head": "head", **task}
    stages = [{"rate": 1.0, "steps": 1, "groups": [{"tasks": ["one"], "rows": 1}]}]
    found = {"kind": "made_up", "tasks": {"one": settings}, "stages": stages, "encoder": "tiny"}
    found["left_out"] = list(left_out)
    return prepare(read_recipe(ReaderRecipe, found), cut, folder).examples["one"]


def test_pairs_are_of_the_better_and_the_worse_story(data, short_release):
    one = made(data, kind="pairs", data=["storyer"])
    assert len(one) == 8
    better, worse = one.members.T.tolist()
    assert [one.text(number) for number in better] == cut([tale(i, good=0.9) for i in range(8)])
    assert [one.text(number) for number in worse] == cut([tale(50 + i, good=0.1) for i in range(8)])
    # Two pairs a prompt, which is the item.
    assert len(set(one.items)) == 4
    assert all(item.startswith("storyer:") for item in one.items)
    np.testing.assert_allclose(one.features[better[0]], feature_row(tale(0, good=0.9)), rtol=1e-6)


def test_pairs_with_negatives_are_of_the_worse_story_and_its_corruption(data, short_release):
    one = made(data, kind="pairs", data=["storyer"], negatives=True)
    first, second = one.members.T.tolist()
    assert [one.text(number) for number in first] == cut([tale(50 + i, good=0.1) for i in range(8)])
    assert all(one.text(a) != one.text(b) for a, b in zip(first, second, strict=True))
    assert all("/negative" in one.ids[number] for number in second)
    again = made(data, kind="pairs", data=["storyer"], negatives=True)
    assert one.sha256 == again.sha256


def test_stories_are_related_to_their_prompts_where_a_scale_asks_for_it(data, monkeypatch):
    def relate(prompts, texts):
        pairs = zip(prompts, texts, strict=True)
        return np.array([[len(prompt), len(text)] for prompt, text in pairs])

    monkeypatch.setattr(tasks, "relate", relate)
    monkeypatch.setattr(tasks, "open_relater", lambda: None)
    table = str(data / "table.csv")
    rated = {"kind": "ratings", "data": [table], "aspects": ["good"], "head": "head"}
    stages = [{"rate": 1.0, "steps": 1, "groups": [{"tasks": ["one"], "rows": 1}]}]
    found = {"kind": "made_up", "tasks": {"one": rated}, "stages": stages, "encoder": "tiny"}
    scale = {"terms": {"head": 1.0}, "to": ["one"], "relation": 1.0}
    recipe = read_recipe(ReaderRecipe, found | {"scales": {"fit": scale}})
    relations = prepare(recipe, cut, data).examples["one"].relations
    assert relations.tolist() == [[9, len(tale(200 + i))] for i in range(12)]
    assert len(made(data, kind="ratings", data=[table], aspects=["good"]).relations) == 0


def test_ratings_are_means_over_raters_and_nan_where_nobody_rated(data):
    table = str(data / "table.csv")
    one = made(data, kind="ratings", data=[table], aspects=["good", "bad"])
    assert len(one) == 12
    # Ann's 1 … 5 and Ben's 3, halved.
    wanted = [(i % 5 + 1 + 3) / 2 for i in range(12)]
    assert one.targets[:, 0].tolist() == wanted
    assert np.flatnonzero(~np.isnan(one.targets[:, 1])).tolist() == [0, 4, 8]
    assert [item.partition(":")[2] for item in one.items] == [f"i{i // 3}" for i in range(12)]
    assert one.ids[0].endswith(":t0")


def test_a_story_may_be_read_with_its_prompt_and_by_system(data):
    table = str(data / "table.csv")
    plain = {"kind": "ratings", "data": [table], "aspects": ["good"]}
    with_prompt = made(data, **plain, with_prompt=True)
    assert with_prompt.text(3) == cut([f"Prompt 1. {tale(203)}"])[0]
    assert len(made(data, **plain, systems=["a"])) == 6
    assert len(made(data, **plain, split="i2")) == 3
    assert len(made(data, **plain, most=4)) == 4
    with pytest.raises(SettingError, match="no stories for the task; check split and systems"):
        made(data, **plain, systems=["c"])


def test_shares_say_which_aspects_raters_spoke_of(data):
    table = str(data / "table.csv")
    one = made(data, kind="shares", data=[table], aspects=["good", "bad"])
    # Two raters of the one, and of every fourth story one of the other.
    np.testing.assert_allclose(one.targets[0], [2 / 3, 1 / 3], rtol=1e-6)
    np.testing.assert_allclose(one.targets[1], [1.0, 0.0])


def test_aspects_that_nobody_rated_leave_no_example(data):
    table = str(data / "table.csv")
    with pytest.raises(InputError, match="task one has no example; check its data and aspects"):
        made(data, kind="ratings", data=[table], aspects=["other"])


def test_corrupted_stories_come_with_the_stories_themselves(data):
    one = made(data, kind="corrupted", data=["rocstories"])
    half = len(one) // 2
    assert half > 40
    assert one.targets[:half].all() and not one.targets[half:].any()
    assert one.items[:half] == one.items[half:]
    stories = cut([" ".join(roc(number)) for number in range(60)])
    for place in range(half):
        assert one.text(place) in stories
        assert one.text(place) != one.text(half + place)


def test_a_stretch_of_a_longer_story_is_within_its_bounds(data):
    one = made(data, kind="filled", data=["rocstories"], sentences=[3, 4])
    lengths = np.diff(one.members, axis=1)[:, 0]
    assert set(lengths.tolist()) == {3, 4}


def test_filled_stories_are_runs_of_sentences(data):
    one = made(data, kind="filled", data=["rocstories"], most=5)
    assert one.members.tolist() == [[5 * i, 5 * i + 5] for i in range(5)]
    stories = [cut(roc(number)) for number in range(60)]
    assert [one.text(number) for number in range(5)] in stories


def find_way(sentences: list[list[int]], spoiled: list[int]) -> str:
    """Tell how a story was spoiled by which of its words and sentences are left."""
    whole = [word for sentence in sentences for word in sentence]
    if sorted(spoiled) != sorted(whole):
        return "loop" if set(spoiled) <= set(whole) else "graft"
    written = f" {' '.join(map(str, spoiled))} "
    is_whole = all(f" {' '.join(map(str, sentence))} " in written for sentence in sentences)
    return "moved" if is_whole else "salad"


def test_a_spoiled_story_stands_beside_the_story_itself(data):
    one = made(data, kind="spoiled", data=["rocstories"])
    stories = [cut([" ".join(roc(number))])[0] for number in range(60)]
    ways: Counter[str] = Counter()
    for (first, second), item in zip(one.members.tolist(), one.items, strict=True):
        number = stories.index(one.text(first))
        assert item == f"rocstories:s{number}"
        assert one.text(second) != one.text(first)
        ways[find_way(cut(roc(number)), one.text(second))] += 1
    # Sentences or blocks of them change places in five of eight.
    assert 0.4 < ways["moved"] / len(one) < 0.8
    assert ways.keys() == {"moved", "loop", "salad", "graft"}
    assert made(data, kind="spoiled", data=["rocstories"]).sha256 == one.sha256


def test_stories_are_spoiled_of_some_systems_and_of_small_letters_too(data, tmp_path):
    table = tmp_path / "small.csv"
    rows = [
        (f"t{i}", f"i{i // 2}", "ab"[i % 2], " ".join(roc(i)).lower().replace(".", " ."), 3)
        for i in range(20)
    ]
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "item", "system", "text", "human:me:good"), *rows])
    one = made(data, kind="spoiled", data=[str(table)], systems=["a"], sentences=[3, 4])
    assert 0 < len(one) <= 10
    ends = cut(["."])[0][0]
    for first, second in one.members.tolist():
        assert one.text(first).count(ends) in (3, 4)
        assert one.text(first) != one.text(second)
    assert set(one.items) <= {f"small:i{number}" for number in range(10)}


def test_rated_stories_are_spoiled_where_the_task_says_so_and_folds_part_them(data, tmp_path):
    table = tmp_path / "rated.csv"
    rows = [(f"s{i}", f"{'ab'[i // 2 % 2]}{i // 2}", " ".join(roc(i)), 3) for i in range(20)]
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "item", "text", "human:me:good"), *rows])
    task = {"kind": "spoiled", "data": [str(table)], "split": "a"}
    with pytest.raises(InputError, match="no story is left"):
        made(data, left_out=[str(table)], **task)
    one = made(data, left_out=[str(table)], rated=True, **task)
    stories = cut([text for _, item, text, _ in rows if item.startswith("a")])
    assert [one.text(first) for first in one.members[:, 0].tolist()] == stories
    # The items that ratings of the same stories bear.
    rated = made(data, kind="ratings", data=[str(table)], split="a", aspects=["good"])
    assert one.items == rated.items
    with pytest.raises(SettingError, match="has rated = true"):
        made(data, kind="ratings", data=[str(table)], aspects=["good"], rated=True)


def test_stories_that_readers_are_tried_on_are_not_learned_from(tmp_path, short_release):
    def story(number: int) -> str:
        return "\n".join(roc(number) * 5)

    rows = [
        {"src": "x", "prompt": f"Prompt {number}." if number % 2 else "", "story": story(number)}
        for number in range(20)
    ]
    put(tmp_path / "writingprompts", {"writingprompts.jsonl": lines(*rows)})
    one = made(tmp_path, kind="spoiled", data=["writingprompts"])
    texts = {tuple(one.text(first)) for first in one.members[:, 0].tolist()}
    without_prompt = cut([" ".join(roc(number) * 5) for number in range(0, 20, 2)])
    assert texts and texts <= set(map(tuple, without_prompt))


def test_order_takes_neighbouring_sentences(data):
    one = made(data, kind="order", data=["rocstories"], most=10)
    assert len(one) == 40
    stories = [cut(roc(number)) for number in range(60)]
    for first, second in one.members.tolist():
        assert second == first + 1
        story = next(some for some in stories if one.text(first) in some)
        assert story[story.index(one.text(first)) + 1] == one.text(second)
    assert len(set(one.items)) == 10


def test_labels_are_the_data_sets_own(data):
    one = made(data, kind="labels", data=[str(data / "table.csv")], aspects=[""])
    assert one.targets[:, 0].tolist() == [i % 2 for i in range(12)]
    assert one.features.size == 0


def test_a_data_set_that_is_not_in_the_folder_is_named(data, tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="no files of the data set 'hanna'; fabula data show"):
        made(data, kind="ratings", data=["hanna"], aspects=["coherence"])


def test_the_tokeniser_of_a_folder_neither_cuts_nor_pads(tmp_path):
    pytest.importorskip("torch")
    start = write_tiny_encoder(tmp_path / "start")
    texts = [tale(1, sentences=40), "the king"]
    assert open_tokeniser(start)(texts) == tiny_tasks.cut(texts)
    with pytest.raises(InputError, match=r"tokenizer\.json is not there"):
        open_tokeniser(tmp_path)


def test_prepared_stories_are_described_where_values_are_made_of_them(data):
    table = str(data / "table.csv")
    tasks = {"one": {"kind": "ratings", "data": [table], "aspects": ["good"], "head": "head"}}
    stages = [{"rate": 1.0, "steps": 1, "groups": [{"tasks": ["one"], "rows": 1}]}]
    scales = {"good": {"terms": {"head": 1.0}, "to": ["one"]}}
    plain = {"kind": "made_up", "tasks": tasks, "stages": stages, "scales": scales}
    found = prepare(read_recipe(ReaderRecipe, plain), cut, data).domain
    assert found["stories"] == 12
    assert json.loads(json.dumps(found)) == found


def test_a_judges_scores_are_ratings_of_a_task_that_names_it(tmp_path):
    stories = [Story(f"s{i}", tale(i), item=f"i{i // 2}") for i in range(6)]
    scores = [Score(f"s{i}", "judge(x)", "good", float(i)) for i in range(5)]
    scores.append(Score("s5", "judge(x)", "good", math.nan, Status.REFUSED))
    scores += [Score(f"s{i}", "other", "good", 9.0) for i in range(6)]
    ScoreTable(stories, scores).save(tmp_path / "run")
    people = tmp_path / "people.csv"
    with people.open("w", newline="") as file:
        rows = [("p", "a", tale(2), 3), ("q", "b", tale(50), 4)]
        csv.writer(file).writerows([("id", "item", "text", "human:me:good"), *rows])
    asked = {"kind": "ratings", "head": "x", "aspects": ["good"]}
    recipe = {
        "kind": "k",
        "tasks": {
            "judge": {**asked, "data": [str(tmp_path / "run")], "scorer": "judge(x)"},
            "people": {**asked, "data": [str(people)]},
        },
        "stages": [{"rate": 1, "steps": 1, "groups": [{"tasks": ["judge"], "rows": 1}]}],
    }
    made = prepare(read_recipe(ReaderRecipe, recipe), cut).examples
    assert made["judge"].targets[:, 0].tolist() == [0, 1, 2, 3, 4]
    # s2 is a story that people rated: its item is theirs, and takes s3 along into one fold.
    own = "run:i0", "run:i0", "people:a", "people:a", "run:i2"
    assert made["judge"].items == own
    assert made["people"].items == ("people:a", "people:b")
