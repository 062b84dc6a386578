"""A made-up survey: three raters, two sequences, three systems, correlated by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.datasets import load_dataset

HEAD = "rater,sequence,system,grounding,coherence,non_redundancy,best"
ROWS = """\
r1,q1,A,5,4,3,1
r1,q1,B,3,4,3,0
r1,q1,C,1,4,3,
r2,q1,A,4,2,2,yes
r2,q1,B,4,2,2,no
r2,q1,C,2,2,2,no
r3,q1,A,3,5,5,0
r3,q1,B,5,5,5,1
r3,q1,C,3,5,5,0
r1,q2,A,1,3,3,1
r1,q2,B,2,3,3,0
r1,q2,C,3,3,3,0
r2,q2,A,2,3,3,0
r2,q2,B,3,3,3,0
r2,q2,C,5,3,,1
r3,q2,A,1,3,3,0
r3,q2,B,1,3,3,0
r3,q2,C,4,3,3,0
"""


def write_survey(folder: Path, rows: str = ROWS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "survey.csv").write_text(f"{HEAD}\n{rows}", encoding="utf-8")
    return folder


def write_stories(folder: Path, **changes: object) -> None:
    rows = [
        {"sequence": q, "system": s, "text": f"{s} tells of {q}.", "images": ["1.jpg", "2.jpg"],
         "references": "A day out."} | changes
        for q in ("q1", "q2", "q3")
        for s in "ABC"
    ]  # fmt: skip
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "stories.jsonl").write_text(lines, encoding="utf-8")


def test_ratings_votes_and_preferences_are_read(tmp_path):
    survey = load_dataset("visual_survey", write_survey(tmp_path))
    assert [story.id for story in survey.stories][:4] == ["q1/A", "q1/B", "q1/C", "q2/A"]
    # 18 answers on three criteria and their sum, one answer not given, and so no sum.
    assert len(survey.ratings) == 18 * 4 - 2
    values = {(s.story, s.scorer, s.aspect): s.value for s in survey.ratings}
    assert values["q1/A", "human:r1", "grounding"] == 5.0
    assert values["q1/A", "human:r1", "overall"] == 12.0
    assert ("q2/C", "human:r2", "overall") not in values
    # r3 chose none of the second sequence: two choices were made there.
    shares = {score.story: score.value for score in survey.scores}
    assert [shares[f"q1/{s}"] for s in "ABC"] == pytest.approx([2 / 3, 1 / 3, 0])
    assert [shares[f"q2/{s}"] for s in "ABC"] == [0.5, 0.0, 0.5]
    assert len(survey.preferences) == 3 * 2 + 2 * 2
    assert Preference("q1/B", "q1/C", "r3") in survey.preferences


def test_pictures_beside_the_survey_are_found_from_anywhere(tmp_path):
    folder = write_survey(tmp_path / "survey")
    write_stories(folder, images=["1.jpg", "42"])
    (folder / "1.jpg").write_bytes(b"")
    story = load_dataset("visual_survey", folder).stories[0]
    # What is no file there may be a name that means something elsewhere.
    assert story.images == (str(folder / "1.jpg"), "42")


def test_votes_are_correlated_with_criteria_sequence_by_sequence(tmp_path):
    # Means of grounding: q1 4, 4, 2 beside votes ⅔, ⅓, 0: ranks 2.5, 2.5, 1 and 3, 2, 1 give
    # ρ = 1.5 / √(1.5 · 2). q2 4/3, 2, 4 beside ½, 0, ½: ρ = 0. Their mean is Table 2's statistic.
    words = ["meta", "visual_survey", "--path", str(write_survey(tmp_path)), "-m", "votes",
             "--level", "item", "-a", "grounding", "-f", "json", "--resamples", "20"]  # fmt: skip
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    rows = {row["coefficient"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["spearman"]["value"] == pytest.approx((1.5 / math.sqrt(3) + 0) / 2)


def test_raters_agreement_can_be_asked_for(tmp_path):
    done = CliRunner().invoke(
        cli, ["agree", "visual_survey", "--path", str(write_survey(tmp_path)), "-f", "json"]
    )
    assert done.exit_code == 0, done.output
    assert "grounding" in done.stdout


def test_stories_bring_texts_pictures_and_references(tmp_path):
    write_survey(tmp_path)
    write_stories(tmp_path)
    survey = load_dataset("visual_survey", tmp_path)
    # Nobody was asked about the third sequence.
    assert len(survey.stories) == 6
    story = survey.stories[1]
    assert (story.text, story.item, story.system) == ("B tells of q1.", "q1", "B")
    images = tuple(str(tmp_path / name) for name in ("1.jpg", "2.jpg"))
    assert (story.images, story.references) == (images, ("A day out.",))
    # The file of a survey will do; stories are looked for beside it.
    assert load_dataset("visual_survey", tmp_path / "survey.csv").stories == survey.stories


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("r1,q1,A,5,4,3,1\nr1,q1,A,5,4,3,0\n", r"survey.csv, .*3.*answers twice on 'A'"),
        ("r1,q1,A,5,4,3,1\nr1,q1,B,5,4,3,1\n", "chooses two best stories of sequence 'q1'"),
        ("r1,q1,A,6,4,3,1\n", "rating 6 is outside the scale 1 to 5"),
        ("r1,q1,A,good,4,3,1\n", "rating 'good' is no number"),
        ("r1,q1,A,5,4,3,perhaps\n", "best is 'perhaps'"),
        ("r1,,A,5,4,3,1\n", "'sequence' names nothing"),
    ],
)
def test_a_row_that_will_not_do_is_named(tmp_path, row, words):
    with pytest.raises(InputError, match=words):
        load_dataset("visual_survey", write_survey(tmp_path, row))


def test_a_story_that_is_asked_about_and_not_there_is_named(tmp_path):
    write_survey(tmp_path)
    write_stories(tmp_path, system="A", sequence="q9")
    with pytest.raises(InputError, match="story 'q9/A'"):
        load_dataset("visual_survey", tmp_path)
    (tmp_path / "stories.jsonl").write_text('{"sequence": "q1", "system": "A", "text": "x"}\n')
    with pytest.raises(InputError, match="no story of 'B' on sequence 'q1'"):
        load_dataset("visual_survey", tmp_path)
    write_stories(tmp_path, images=[1, 2])
    with pytest.raises(InputError, match="'images' is no list of texts"):
        load_dataset("visual_survey", tmp_path)


def test_a_folder_without_a_survey_says_what_is_wanted(tmp_path):
    with pytest.raises(InputError, match=r"survey\.csv"):
        load_dataset("visual_survey", tmp_path)
