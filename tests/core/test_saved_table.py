from dataclasses import replace
from pathlib import Path

import pytest

from fabula import Score, ScoreTable, Status, Story
from fabula.core.errors import InputError


def make_table() -> ScoreTable:
    stories = [
        Story("a", "Once.\nTwice. é \ud800", "why", ("one", "two"), ("x.png",), "human", "1"),
        Story("b", ""),
    ]
    scores = [
        Score("a", "words", "", 1 / 3, coverage=0.5, note="half"),
        Score("b", "words", status=Status.EMPTY_TEXT, coverage=0.0, note="no text"),
    ]
    return ScoreTable(stories, scores)


def test_a_table_that_was_saved_comes_back_whole(tmp_path: Path) -> None:
    table = make_table()
    table.save(tmp_path / "deep" / "folder")
    again = ScoreTable.load(tmp_path / "deep" / "folder")
    # A picture is found from wherever the table is read.
    found = [
        replace(story, images=tuple(str(Path(name).absolute()) for name in story.images))
        for story in table.stories
    ]
    assert [*again.stories] == found
    assert [*map(repr, again.scores)] == [*map(repr, table.scores)]


def test_saving_twice_leaves_the_latest_and_nothing_besides(tmp_path: Path) -> None:
    make_table().save(tmp_path)
    ScoreTable([Story("c", "new")]).save(tmp_path)
    assert [story.id for story in ScoreTable.load(tmp_path).stories] == ["c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores.jsonl", "stories.jsonl"]


def test_a_folder_that_holds_no_table_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"stories\.jsonl cannot be read"):
        ScoreTable.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("stories.jsonl", '{"title": "no story"}', "line 1: not a story"),
        ("scores.jsonl", '{"story": "a", "value": "high"}', "line 1: not a score"),
        ("scores.jsonl", "{", "scores.jsonl is damaged"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, name: str, line: str, words: str) -> None:
    make_table().save(tmp_path)
    (tmp_path / name).write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        ScoreTable.load(tmp_path)
