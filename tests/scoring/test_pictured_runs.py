"""Runs over stories of pictures: values are kept by what pictures hold, not by their names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fabula.core.errors import UserError
from fabula.core.score import Status
from fabula.core.table import ScoreTable
from fabula.datasets.tables.stories import StoryFile
from fabula.learned.rovist_vg import RovistVg
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.scoring.run import RunOptions, run
from fakes.grounding import plain_nouns, save_picture

__all__ = ["plain_nouns"]

pytestmark = pytest.mark.usefixtures("plain_nouns")
SPEC = "rovist_vg(grounder='fake', idf='off', pooling='lse')"
BLUE, RED = (0, 0, 255), (255, 0, 0)


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of two stories; one is in its folder."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": "a", "text": "The sea.", "images": ["p/1.png", "p/2.png"]},
        {"id": "b", "text": "The sea and a tree.", "images": ["p/2.png"]},
    ]
    for name in ("1", "2"):
        save_picture(tmp_path / "data" / "p" / f"{name}.png", RED)
    path = tmp_path / "data" / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return Path("data/stories.jsonl")


def score(table, folder=None, specs=SPEC, **options):
    metrics = choose_metrics(specs)
    found = []
    options = RunOptions(folder, on_score=lambda _, score: found.append(score), **options)
    result = run(StoryFile(table), metrics, options)
    return result, {(one.story, one.scorer): one for one in found}


def test_a_changed_picture_under_the_same_name_has_its_own_value(table, tmp_path):
    cache = tmp_path / "cache.sqlite"
    _, before = score(table, cache=cache)
    save_picture(tmp_path / "data" / "p" / "1.png", BLUE)
    _, after = score(table, cache=cache)
    assert after["a", SPEC].value > before["a", SPEC].value
    assert after["b", SPEC].value == before["b", SPEC].value


def test_a_renamed_picture_is_found_in_the_cache(table, tmp_path, monkeypatch):
    cache = tmp_path / "cache.sqlite"
    _, before = score(table, cache=cache)
    shutil.copytree(tmp_path / "data", tmp_path / "moved")
    monkeypatch.setattr(RovistVg, "compute", None)
    _, after = score(Path("moved/stories.jsonl"), cache=cache)
    assert after == before


def test_a_picture_that_was_missing_is_looked_at_once_it_is_there(table, tmp_path):
    cache, picture = tmp_path / "cache.sqlite", tmp_path / "data" / "p" / "1.png"
    picture.rename(tmp_path / "aside.png")
    _, before = score(table, cache=cache)
    assert before["a", SPEC].status is Status.MISSING_IMAGES
    assert before["a", SPEC].note.startswith("story 'a': there is no picture data/p/1.png")
    assert before["b", SPEC].ok
    (tmp_path / "aside.png").rename(picture)
    assert score(table, cache=cache)[1]["a", SPEC].ok


class TestRunFolders:
    """What a folder says of its pictures."""

    def test_pictures_that_changed_are_other_stories(self, table, tmp_path):
        folder = tmp_path / "runs" / "first"
        score(table, folder, cache=False)
        assert score(table, folder, cache=False)[0].kept == (SPEC,)
        save_picture(tmp_path / "data" / "p" / "1.png", BLUE)
        with pytest.raises(UserError, match="holds another run \\(other pictures\\)"):
            score(table, folder, cache=False)
        assert score(table, folder, "words", cache=False)[0].kept == (SPEC,)
        with pytest.raises(UserError, match="other pictures"):
            score(table, folder, cache=False)

    def test_a_metric_of_pictures_joins_one_of_texts(self, table, tmp_path):
        folder = tmp_path / "runs" / "first"
        score(table, folder, "words", cache=False)
        result, found = score(table, folder, SPEC, cache=False)
        assert result.kept == ("words",) and found["a", SPEC].ok

    def test_names_are_relative_and_lead_to_the_pictures(self, table, tmp_path):
        folder = Path("runs/first")
        score(table, folder, cache=False)
        rows = [json.loads(line) for line in (folder / "stories.jsonl").read_text().splitlines()]
        assert rows[0]["images"] == ["../../data/p/1.png", "../../data/p/2.png"]
        loaded = ScoreTable.load(folder)
        assert loaded.stories[0].images == ("data/p/1.png", "data/p/2.png")
        assert evaluate(folder / "stories.jsonl", SPEC).scores[0] == loaded.scores[0]

    def test_a_run_moved_with_its_pictures_finds_them_and_alone_names_them(self, table, tmp_path):
        score(table, Path("runs/first"), cache=False)
        there = tmp_path / "there"
        there.mkdir()
        shutil.move("data", there / "data")
        shutil.move("runs", there / "runs")
        stories = there / "runs" / "first" / "stories.jsonl"
        assert all(one.ok for one in evaluate(stories, SPEC).scores)
        shutil.move(there / "runs", tmp_path / "alone")
        [first, _] = evaluate(tmp_path / "alone" / "first" / "stories.jsonl", SPEC).scores
        assert first.status is Status.MISSING_IMAGES and "there is no picture" in first.note


def test_each_picture_is_encoded_once_a_run(table, monkeypatch):
    from fabula.learned.grounding.matchers import JointMatcher

    seen: list[int] = []
    view = JointMatcher.view
    monkeypatch.setattr(
        JointMatcher,
        "view",
        lambda self, crops, regions: (seen.append(len(crops)), view(self, crops, regions))[1],
    )
    metrics = ["rovist_vg(grounder='fake', regions=3)", "tiger(grounder='fake', regions=3)"]
    evaluate(StoryFile(table).path, metrics)
    # One of the two is in both stories, and both metrics look at both: three boxes and the whole
    # of each picture, all at once.
    assert seen == [2 * (3 + 1)]
