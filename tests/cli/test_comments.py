"""`fabula comments`: topics and augmentation, on made-up comments."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import InputError, SettingError
from fabula.datasets import load_dataset
from fabula.datasets.storyer_ratings import ASPECTS

pytest.importorskip("sklearn")

ABOUT = {
    "ending": "ending last close final twist finish resolved conclusion finale lines epilogue",
    "funny": "funny joke laugh humour giggle witty comic punchline hilarious silly absurd",
}
PRAISE, BLAME = "wonderful lovely perfect great", "poor weak dull awful"


def comment(aspect: str, seed: int, *, good: bool) -> str:
    rng = random.Random(f"{aspect} {seed}")
    told = [*rng.choices(ABOUT[aspect].split(), k=12)]
    return " ".join([*told, *rng.choices((PRAISE if good else BLAME).split(), k=6)])


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """Forty stories, each with a good and a bad comment, in the form of StoryER's release."""
    rows = []
    for number in range(40):
        said = [
            [ASPECTS.index(name) + 1, 5 if good else 1, comment(name, number, good=good)]
            for name, good in (("ending", number % 2 == 0), ("funny", number % 2 == 1))
        ]
        said += [[-1, -1, None]] * 3
        rows.append({"story": f"Tale {number}.", "score": 1, "prompt": "", "comments": said})
    file = tmp_path / "rated.json"
    file.write_text(json.dumps(rows))
    return file


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "comments.csv"
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["text", "prompt", "comment"])
        for number in range(60):
            name = ("ending", "funny")[number % 2]
            writer.writerow(["A cat sat.", "Cats", comment(name, 100 + number, good=True)])
        writer.writerow(["A cat sat.", "Cats", "Too short."])
        writer.writerow(["A cat sat.", "Cats", ""])
    return file


def test_topics_part_the_words_of_two_subjects(table: Path) -> None:
    asked = ["comments", "topics", str(table), "--least", "2", "--most", "2", "-f", "json"]
    result = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert result.exit_code == 0
    topics = json.loads(result.stdout)
    assert [one["topic"] for one in topics] == [1, 2]
    for name, words in ABOUT.items():
        own = [len(set(words.split()) & set(one["words"])) for one in topics]
        assert max(own) >= 5 and min(own) <= 3, name
    assert "2 topics of 61 comments" in result.stderr


def test_augmentation_gives_a_file_that_a_joint_training_reads(
    rated: Path, table: Path, tmp_path: Path
) -> None:
    out = tmp_path / "more.json"
    asked = ["comments", "augment", str(table), "--learn", str(rated), "-o", str(out)]
    result = CliRunner().invoke(cli, asked, catch_exceptions=False)
    assert result.exit_code == 0 and result.stdout == f"{out}\n"
    assert "60 of 61 comments kept; left out: 1 too short" in result.stderr
    found = load_dataset("storyer_ratings", out)
    assert [one.text for one in found.stories] == ["A cat sat."]
    assert {one.aspect for one in found.ratings} == {"ending", "funny"}
    assert {one.value for one in found.ratings} == {5.0}
    assert len(found.ratings) == 60


def test_classifiers_are_measured_on_stories_that_they_have_not_seen(rated: Path) -> None:
    done = CliRunner().invoke(cli, ["comments", "evaluate", str(rated), "-f", "json"])
    rows = {(row["told"], row["of"]): row for row in json.loads(done.stdout)}
    assert [*rows][:3] == [("aspect", "ending"), ("aspect", "funny"), ("aspect", "all")]
    assert rows["aspect", "all"]["comments"] == 80
    # Every aspect, and every rating, has words of its own.
    assert rows["aspect", "all"]["words"] > 0.95
    assert rows["polarity", "all"]["words"] > 0.95
    assert rows["aspect", "all"]["prior"] == 0.5
    with pytest.raises(SettingError, match="are for --encoder"):
        asked = ["comments", "evaluate", str(rated), "--device", "cpu"]
        CliRunner().invoke(cli, asked, catch_exceptions=False)


def test_a_column_that_is_not_there_and_bounds_the_wrong_way_round_are_named(table: Path) -> None:
    run = CliRunner().invoke(cli, ["comments", "topics", str(table), "--column", "comment=words"])
    assert isinstance(run.exception, InputError)
    assert "no column 'words'; name the one of comments; it has: text" in str(run.exception)
    run = CliRunner().invoke(cli, ["comments", "topics", str(table), "--least", "9", "--most", "3"])
    assert isinstance(run.exception, SettingError)


def test_a_story_id_that_stands_for_two_stories_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    file.write_text("story,text,comment\na,One.,x\na,Two.,y\n")
    run = CliRunner().invoke(cli, ["comments", "topics", str(file)])
    assert "story 'a' is another than before" in str(run.exception)


def test_comments_without_a_story_cannot_be_augmented(rated: Path, tmp_path: Path) -> None:
    file = tmp_path / "bare.csv"
    file.write_text(f"story,comment\na,{comment('ending', 1, good=True)}\n")
    asked = ["comments", "augment", str(file), "--learn", str(rated)]
    run = CliRunner().invoke(cli, [*asked, "-o", str(tmp_path / "o.json")])
    assert "story 'a' has no text" in str(run.exception)
