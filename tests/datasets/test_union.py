from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.table import ScoreTable
from fabula.datasets import load_dataset
from fabula.datasets.union import METRICS, load
from fakes.release_samples import SAMPLES, put

SAMPLE = SAMPLES["union"]


def refused(folder: Path, name: str, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(put(folder, SAMPLE | {name: text}))
    return str(caught.value)


def test_a_story_has_the_human_story_with_its_opening_as_reference(tmp_path: Path) -> None:
    ann, bo = load(put(tmp_path, SAMPLE)).stories
    assert (ann.id, ann.prompt, ann.references) == (
        "1",
        "ann slept .",
        ("ann slept . she dreamt .",),
    )
    assert bo.references == ("bo ran . he won .",)


def test_the_note_of_a_rating_is_the_kind_of_error(tmp_path: Path) -> None:
    ratings = list(load(put(tmp_path, SAMPLE)).ratings)[:7]
    assert [score.value for score in ratings] == [1, 1, 1, 0, 1, 1, 0]
    assert ratings[3].note == "conflicting logic" and ratings[6].note == "other"
    assert ratings[0].note == "none" and ratings[0].scorer == "human:1"


def test_published_scores_stand_in_the_order_of_the_stories(tmp_path: Path) -> None:
    dataset = load(put(tmp_path, SAMPLE))
    assert [(s.story, s.scorer, s.value) for s in dataset.scores] == [
        ("1", "BLEU", 0.5),
        ("0", "BLEU", 0.25),
        ("1", "PPL", 1.5),
        ("0", "PPL", 2.5),
    ]
    assert dataset.scorers["PPL"].direction == "lower"


def test_the_annotations_alone_are_enough(tmp_path: Path) -> None:
    only = {"ant_data/ant_data.txt": SAMPLE["ant_data/ant_data.txt"]}
    dataset = load(put(tmp_path, only))
    assert len(dataset.ratings) == 14 and not len(dataset.scores)
    assert {score.note for score in dataset.ratings} == {""}
    assert {story.references for story in dataset.stories} == {()}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ant_data/ant_data.txt", "1 ||| ann slept .\n", "line 1: 2 cells between '|||', not 3"),
        (
            "ant_data/ant_data.txt",
            "1 ||| bo ran . ||| 1 1 1 1 1 1 1\n",
            "does not begin like line 1",
        ),
        (
            "ant_data/ant_data.txt",
            "9 ||| bo ran . ||| 1 1 1 1 1 1 1\n",
            "does not begin like line 9",
        ),
        ("metric_output/bleu.txt", "0.5\n", "bleu.txt: 1 lines for 2 stories"),
        ("metric_output/bleu.txt", "0.5\nhigh\n", "bleu.txt, line 2: rating 'high' is no number"),
        ("ant_data/ant_data_all.txt", "1 ||| a ||| 0\n", "ant_data_all.txt: 1 lines for 2"),
    ],
)
def test_files_that_do_not_fit_are_named(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    assert message in refused(tmp_path, name, text)


def test_ratings_that_are_not_what_they_should_be_are_named(tmp_path: Path) -> None:
    good = SAMPLE["ant_data/ant_data.txt"]
    kinds = SAMPLE["ant_data/ant_data_all.txt"]
    name = "ant_data/ant_data.txt"
    assert "line 1: 6 ratings, not 7" in refused(tmp_path, name, good.replace("0 1 1 0", "0 1 1"))
    assert "rating 2 is outside" in refused(tmp_path, name, good.replace("0 1 1 0", "2 1 1 0"))
    assert "gives 1, but the kind of error is 'conflicting logic'" in refused(
        tmp_path, name, good.replace("0 1 1 0", "1 1 1 0")
    )
    name = "ant_data/ant_data_all.txt"
    assert "kind of error '6' is not 0 to 5" in refused(tmp_path, name, kinds.replace("5", "6"))
    swapped = "".join(reversed(kinds.splitlines(keepends=True)))
    assert "line 1: story '0', not '1'" in refused(tmp_path, name, swapped)


def test_a_story_that_comes_twice_is_refused(tmp_path: Path) -> None:
    first = SAMPLE["ant_data/ant_data.txt"].splitlines(keepends=True)[0]
    message = refused(tmp_path, "ant_data/ant_data.txt", first * 2)
    assert "line 2: story '1' was there before, at ant_data.txt, line 1" in message


def means(table: ScoreTable) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for score in table:
        found.setdefault(score.story, []).append(score.value)
    return {story: sum(values) / len(values) for story, values in found.items()}


def test_the_published_scores_correlate_with_people_as_printed(shared: Path) -> None:
    from scipy import stats

    printed = json.loads((shared / "reference" / "golden.json").read_text("utf-8"))
    wanted = printed["union_metric_output_vs_human"]["ROCStories"]
    dataset = load_dataset("union", shared / "data" / "union_roc")
    human = means(dataset.ratings)
    assert sum(human.values()) / len(human) == pytest.approx(wanted["human_mean"], abs=1e-6)
    for name, (title, _) in METRICS.items():
        scores = [(score.value, human[score.story]) for score in dataset.scores.of(title)]
        ours, theirs = zip(*scores, strict=True)
        found = [
            coefficient(ours, theirs)[0]
            for coefficient in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
        ]
        assert found == pytest.approx(wanted[name], abs=5.1e-5), name
