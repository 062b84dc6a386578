from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.tables.several import SeveralFiles, open_several
from fabula.datasets.tables.stories import StoryLayout


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name: str, *rows: dict[str, str]) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        lines = [";".join(rows[0]), *(";".join(row.values()) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def texts(*words: str, **more: str) -> list[dict[str, str]]:
    return [{"text": word, **more} for word in words]


def read(*sources: str, **layout: object) -> tuple[list[Story], list[str]]:
    with open_several(sources, StoryLayout(**layout)) as source:  # type: ignore[arg-type]
        return list(source), source.describe()


def parts(stories: list[Story]) -> list[tuple[str, str | None, str | None]]:
    return [(story.id, story.system, story.item) for story in stories]


def test_files_without_ids_are_systems_matched_line_by_line() -> None:
    stories, words = read(write("a.jsonl", *texts("x", "y")), write("b.csv", *texts("u", "v")))
    assert parts(stories) == [
        ("a/1", "a", "1"),
        ("a/2", "a", "2"),
        ("b/1", "b", "1"),
        ("b/2", "b", "2"),
    ]
    assert words[-1] == "no file has ids: stories on the same line share an item"


def test_files_of_other_lengths_without_ids_share_no_item_and_it_is_said() -> None:
    stories, words = read(write("a.jsonl", *texts("x", "y")), write("b.jsonl", *texts("u")))
    assert parts(stories) == [("a/1", "a", None), ("a/2", "a", None), ("b/1", "b", None)]
    assert words[-1] == "no items are shared: no file has ids, and they hold 2, 1 stories"


def test_ids_that_clash_are_made_distinct_and_are_the_item() -> None:
    a = write("a.jsonl", {"id": "7", "text": "x"}, {"id": "8", "text": "y"})
    b = write("b.jsonl", {"id": "8", "text": "u"}, {"id": "9", "text": "v"})
    assert parts(read(a, b)[0]) == [
        ("a/7", "a", "7"),
        ("a/8", "a", "8"),
        ("b/8", "b", "8"),
        ("b/9", "b", "9"),
    ]


def test_ids_that_do_not_clash_stay_and_an_item_column_counts() -> None:
    a = write("a.jsonl", {"id": "7", "text": "x", "item": "i"})
    b = write("b.jsonl", {"id": "8", "text": "u", "item": "i"})
    assert parts(read(a, b)[0]) == [("7", "a", "i"), ("8", "b", "i")]


def test_ids_of_one_file_are_not_matched_with_the_lines_of_another() -> None:
    a = write("a.jsonl", {"id": "0", "text": "x"}, {"id": "1", "text": "y"})
    stories, words = read(a, write("b.jsonl", *texts("u", "v")))
    assert {story.item for story in stories} == {None}
    assert words[-1] == "no items are shared: some files have ids and some have none"


def test_a_system_column_comes_before_the_name_of_the_file() -> None:
    a = write("a.jsonl", *texts("x", system="gpt"), {"text": "y", "system": ""})
    b = write("b.jsonl", *texts("u", "v"))
    assert [story.system for story in read(a, b)[0]] == ["gpt", "a", "b", "b"]
    assert [story.system for story in read(a, b, columns={"system": ""})[0]] == list("aabb")


def test_files_of_one_name_are_told_apart_by_their_folders_or_endings() -> None:
    one, two = write("m/out.jsonl", *texts("x")), write("n/out.jsonl", *texts("u"))
    assert [story.system for story in read(one, two)[0]] == ["m/out", "n/out"]
    one, two = write("out.jsonl", *texts("x")), write("out.csv", *texts("u"))
    assert [story.system for story in read(one, two)[0]] == ["out.jsonl", "out.csv"]


def test_several_texts_are_a_story_each_and_their_folders_the_systems() -> None:
    for folder in "mn":
        for name in "12":
            Path(folder).mkdir(exist_ok=True)
            Path(folder, f"{name}.txt").write_text(f"{folder} {name}")
    assert parts(read("m/1.txt", "m/2.txt")[0]) == [("1", None, None), ("2", None, None)]
    assert parts(read("m/1.txt", "n/1.txt", "n/2.txt")[0]) == [
        ("m/1", "m", "1"),
        ("n/1", "n", "1"),
        ("n/2", "n", "2"),
    ]
    assert parts(read("m", "n")[0]) == [
        (f"{folder}/{name}", folder, name) for folder in "mn" for name in "12"
    ]


def test_a_file_given_twice_is_refused() -> None:
    write("a.jsonl", *texts("x"))
    with pytest.raises(InputError, match=r"\./a\.jsonl|a\.jsonl is given twice"):
        read("a.jsonl", "./a.jsonl")
    with pytest.raises(InputError, match="stdin"):
        read("-", "-")


def test_label_and_checksum_depend_on_names_and_contents_alone() -> None:
    names = [write(f"{name}.jsonl", *texts(name)) for name in "abcde"]
    with open_several(names, StoryLayout()) as source:
        label, first = source.label, source.checksum()
    assert label == "a.jsonl, b.jsonl, c.jsonl, and 2 more"
    with open_several(names, StoryLayout()) as source:
        assert source.checksum() == first
    write("e.jsonl", *texts("other"))
    with open_several(names, StoryLayout()) as source:
        assert source.checksum() != first
        assert [path.name for path in source.inputs()] == names
        assert isinstance(source, SeveralFiles) and source.kind == "jsonl"


def test_a_bad_row_names_its_file() -> None:
    good, bad = write("a.jsonl", *texts("x")), write("b.jsonl", {"text": "x"}, {"tale": "y"})
    with pytest.raises(InputError, match=r"b\.jsonl, line 2"):
        read(good, bad)
