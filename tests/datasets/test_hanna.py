from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import InputError
from fabula.datasets import load_dataset
from fabula.datasets.hanna import CRITERIA, ITEMS, SYSTEMS

NAMES = [name.capitalize() for name in CRITERIA.values()]
PROMPTS = 3  # of the made-up release; the metric file has lists of 96 all the same
HEADERS = ["BLEU Ξ§", "BaryScore-W Ξε", "Text length ¤§", "Repetition-1 ¤§", "SUPERT-PS ¤ε"]


def story_rows() -> list[dict[str, Any]]:
    return [
        {
            "story_id": block * ITEMS + item,
            "prompt_id": item,
            "model": system,
            "prompt": f"Prompt {item}.",
            "human": f"Human tale {item}.",
            "story": f"Tale {item} of {system}.",
            "ratings": {name: [1 + item, 3, 5] for name in NAMES},
        }
        for block, system in enumerate(SYSTEMS)
        for item in range(PROMPTS)
    ]


def score_rows(*extra: str) -> list[dict[str, str]]:
    """Rows of the metric file: a value is its item, plus 100 for every system before."""
    means = {name: json.dumps([1 + item % 5 for item in range(ITEMS)]) for name in NAMES}
    return [
        {"Model": system}
        | means
        | {
            name: json.dumps([block * 100.0 + item for item in range(ITEMS)])
            for name in (*HEADERS, *extra)
        }
        for block, system in enumerate(SYSTEMS)
    ]


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_stories(folder: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "hanna_stories.jsonl").write_text(text, encoding="utf-8")


def write_annotations(folder: Path) -> Path:
    rows = [
        {
            "Story ID": row["story_id"],
            "Prompt": row["prompt"],
            "Human": row["human"],
            "Story": row["story"],
            "Model": row["model"],
            **{name: row["ratings"][name][place] for name in NAMES},
            "Worker ID": worker,
        }
        for row in story_rows()
        for place, worker in enumerate(("ann", "bob", "eve"))
    ]
    return write_csv(folder / "hanna_stories_annotations.csv", rows)


def write_scores(folder: Path, rows: list[dict[str, str]], name: str = "_llm") -> None:
    write_csv(folder / f"hanna_metric_scores{name}.csv", rows)


def load(folder: Path) -> Any:
    return load_dataset("hanna", folder, partial=True)


def test_the_form_with_a_row_per_story_is_read_with_raters_by_arrival(tmp_path: Path) -> None:
    write_stories(tmp_path, story_rows())
    found = load(tmp_path)
    story = found.stories[4]
    assert (story.id, story.item, story.system) == ("97", "1", "BertGeneration")
    assert (story.text, story.prompt) == ("Tale 1 of BertGeneration.", "Prompt 1.")
    assert story.references == ("Human tale 1.",)
    values = {(s.story, s.scorer, s.aspect): s.value for s in found.ratings}
    assert values["97", "human:1", "empathy"] == 2
    assert values["97", "human:3", "complexity"] == 5
    assert len(values) == 33 * 3 * 6
    assert not found.card.raters_known and len(found.scores) == 0


def test_the_annotation_file_knows_its_raters_and_comes_first(tmp_path: Path) -> None:
    write_annotations(tmp_path)
    write_stories(tmp_path, story_rows())
    found = load(tmp_path)
    assert found.card.raters_known
    assert found.ratings.scorers == ["human:ann", "human:bob", "human:eve"]
    assert len(found.stories) == 33 and len(found.ratings) == 33 * 3 * 6
    assert {story.item for story in found.stories} == {"0", "1", "2"}


def test_scores_go_to_the_stories_that_are_there(tmp_path: Path) -> None:
    write_stories(tmp_path, story_rows())
    write_scores(tmp_path, score_rows("ChatGPT EM 2", "ChatGPT AVG 2", "Human Avg 1 RE"))
    found = load(tmp_path)
    values = {(s.story, s.scorer, s.aspect): s.value for s in found.scores}
    assert values["98", "BLEU", ""] == 102  # the second system, the third prompt
    assert values["2", "judge:ChatGPT/2", "empathy"] == 2
    assert {scorer for _, scorer, _ in values} == {
        "BLEU", "BaryScore-W", "Text length", "Repetition-1", "SUPERT-PS", "judge:ChatGPT/2",
    }  # fmt: skip
    cards = found.scorers
    assert (cards["BLEU"].family, cards["BLEU"].direction) == ("string", "higher")
    assert cards["BLEU"].uses == ("reference",)
    assert (cards["BaryScore-W"].family, cards["BaryScore-W"].direction) == ("embedding", "lower")
    assert (cards["Text length"].direction, cards["Text length"].uses) == ("descriptive", ())
    assert cards["Repetition-1"].direction == "lower"
    assert cards["SUPERT-PS"].uses == ("prompt",)
    assert cards["judge:ChatGPT/2"].family == "judge"


def test_the_metric_file_alone_gives_ratings_and_scores_without_texts(tmp_path: Path) -> None:
    rows = score_rows()
    for row in rows:
        row["Human 2 SU"] = json.dumps([4] * ITEMS)
    write_scores(tmp_path, rows)
    found = load(tmp_path)
    assert len(found.stories) == 1056 and {story.text for story in found.stories} == {""}
    assert found.stories[96].system == "BertGeneration" and found.stories[97].item == "1"
    assert found.ratings.scorers == ["human:2"]
    assert {(s.aspect, s.value) for s in found.ratings} == {("surprise", 4.0)}


def test_the_first_release_gives_means_as_the_ratings_of_one(tmp_path: Path) -> None:
    write_scores(tmp_path, score_rows(), name="")
    found = load(tmp_path)
    assert found.ratings.scorers == ["human:mean"] and len(found.ratings) == 6 * 1056
    assert found.card.counts["scores"] == 72 * 1056
    assert found.card.counts["ratings"] == 6 * 1056


def test_values_that_were_not_published_are_missing(tmp_path: Path) -> None:
    rows = score_rows()
    rows[0]["BLEU Ξ§"] = json.dumps([math.nan, None] + [1.0] * (ITEMS - 2))
    rows[1]["BLEU Ξ§"] = rows[0]["BLEU Ξ§"].replace("NaN", "nan")
    write_scores(tmp_path, rows)
    missing = [score for score in load(tmp_path).scores if not score.ok]
    assert [score.story for score in missing] == ["0", "1", "96", "97"]
    assert all(math.isnan(score.value) for score in missing)


def test_files_may_be_gzipped_and_given_by_themselves(tmp_path: Path) -> None:
    path = write_annotations(tmp_path)
    packed = tmp_path / "packed" / f"{path.name}.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert load(packed).stories == load(packed.parent).stories == load(path).stories


Change = Callable[[list[dict[str, Any]]], Any]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1].update(story_id=0), "line 2: story '0' has a row already"),
        (lambda rows: rows[0].update(model="GPT-9"), "line 1: no system of the release is 'GPT-9'"),
        (lambda rows: rows[0].update(prompt_id=96), "line 1: no prompt has the number 96"),
        (lambda rows: rows[0].update(story_id="x"), "line 1: story_id 'x' is no number"),
        (lambda rows: rows[2].pop("story"), "line 3: field 'story' is missing"),
        (
            lambda rows: rows[0]["ratings"].update(Empathy=[1, 6, 2]),
            "line 1, Empathy of rater 2: rating 6 is outside the scale 1 to 5",
        ),
        (
            lambda rows: rows[0]["ratings"].update(Empathy=[1, "good", 2]),
            "line 1, Empathy of rater 2: rating 'good' is no number",
        ),
        (lambda rows: rows[0]["ratings"].pop("Surprise"), "line 1: no list of ratings on Surprise"),
    ],
)
def test_a_wrong_story_row_is_named(change: Change, message: str, tmp_path: Path) -> None:
    rows = story_rows()
    change(rows)
    write_stories(tmp_path, rows)
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: rows[2].update({"BLEU Ξ§": "[1.0, 2.0]"}),
            "line 4, column 'BLEU Ξ§': 2 values where there are 96 prompts",
        ),
        (lambda rows: rows[0].update({"BLEU Ξ§": "7"}), "column 'BLEU Ξ§': no list where"),
        (lambda rows: rows[0].update({"BLEU Ξ§": "[1,"}), "'BLEU Ξ§': not a list of numbers"),
        (
            lambda rows: rows[0].update({"BLEU Ξ§": json.dumps(["x"] * ITEMS)}),
            "column 'BLEU Ξ§', value 1: 'x' is no number",
        ),
        (
            lambda rows: rows[0].update({"Empathy": json.dumps([0.5] * ITEMS)}),
            "column 'Empathy', value 1: rating 0.5 is outside the scale",
        ),
        (lambda rows: rows.pop(), "no row of TD-VAE"),
        (lambda rows: rows[1].update(Model="Human"), "line 3: a second row of 'Human'"),
        (lambda rows: rows[1].update(Model="GPT-3"), "line 3: no system of the release is 'GPT-3'"),
        (
            lambda rows: [row.update({"BLUE Ξ§": "[]"}) for row in rows],
            "no metric of the release is 'BLUE'; did you mean 'BLEU'?",
        ),
        (lambda rows: [row.update(oddity="1") for row in rows], "column 'oddity' is not of the"),
    ],
)
def test_a_wrong_cell_of_the_metric_file_is_named(
    change: Change, message: str, tmp_path: Path
) -> None:
    rows = score_rows()
    change(rows)
    write_scores(tmp_path, rows)
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert message in str(caught.value)


def test_work_times_and_named_characters_are_kept_where_the_file_has_them(tmp_path: Path) -> None:
    path = write_annotations(tmp_path)
    with path.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for place, row in enumerate(rows):
        row |= {"Assignment ID": f"a{place}", "Work time in seconds": 60 + place, "Name": " Mara "}
    rows[1] |= {"Work time in seconds": "", "Name": ""}
    write_csv(path, rows)
    first, second, *_ = load(tmp_path).annotations
    assert (first.story, first.rater, first.seconds) == ("0", "ann", 60)
    assert (first.character, first.assignment) == ("Mara", "a0")
    assert math.isnan(second.seconds) and second.character == ""
    rows[2]["Work time in seconds"] = "a minute"
    write_csv(path, rows)
    with pytest.raises(InputError, match="work time 'a minute' is no number"):
        load(tmp_path)


def test_a_file_of_the_same_layout_may_have_systems_and_prompts_of_its_own(tmp_path: Path) -> None:
    path = write_annotations(tmp_path)
    with path.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row["Model"] = row["Model"].replace("GPT-2", "our model")
    write_csv(path, rows)
    found = load(tmp_path)
    assert {story.system for story in found.stories} >= {"our model", "our model (tag)", "Human"}
    assert {story.item for story in found.stories} == {"0", "1", "2"}
    assert len({(story.item, story.system) for story in found.stories}) == 33


def test_without_the_annotation_file_nothing_is_known_of_the_work(tmp_path: Path) -> None:
    write_stories(tmp_path, story_rows())
    assert load(tmp_path).annotations == ()
