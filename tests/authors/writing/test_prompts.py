"""Prompts of tables, texts and data sets."""

from __future__ import annotations

import json

import pytest

from fabula.authors.writing.prompts import Prompt, read_prompts
from fabula.core.errors import InputError
from fabula.datasets.tables.stories import StoryLayout


def write_table(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_a_table_needs_a_column_of_prompts_and_no_other(tmp_path):
    table = write_table(tmp_path / "p.jsonl", {"premise": "A dragon."}, {"premise": "A ship."})
    assert read_prompts(table, StoryLayout()) == [Prompt("1", "A dragon."), Prompt("2", "A ship.")]
    table = write_table(tmp_path / "q.jsonl", {"words": "A dragon."})
    with pytest.raises(InputError, match="no column for the prompt among words"):
        read_prompts(table, StoryLayout())
    assert read_prompts(table, StoryLayout(columns={"prompt": "words"}))[0].text == "A dragon."


def test_what_people_wrote_goes_along_as_reference_and_what_machines_wrote_does_not(tmp_path):
    rows = [
        {"item": "a", "prompt": "A dragon.", "story": "It baked.", "system": "Human"},
        {"item": "a", "prompt": "A dragon.", "story": "Dragon dragon.", "system": "gpt"},
        {"item": "a", "prompt": "A dragon.", "story": "It slept.", "reference": "It flew."},
        {"item": "b", "prompt": "A ship.", "story": None},
    ]
    found = read_prompts(write_table(tmp_path / "p.jsonl", *rows), StoryLayout())
    assert found == [
        Prompt("a", "A dragon.", ("It baked.", "It flew.", "It slept.")),
        Prompt("b", "A ship."),
    ]


def test_a_text_has_a_prompt_a_line(tmp_path):
    (tmp_path / "p.txt").write_text("A dragon.\n\n  A ship.\n", encoding="utf-8")
    found = read_prompts(str(tmp_path / "p.txt"), StoryLayout())
    assert found == [Prompt("1", "A dragon."), Prompt("2", "A ship.")]


def test_a_data_set_gives_each_prompt_once():
    found = read_prompts("examples", StoryLayout())
    assert len({prompt.item for prompt in found}) == len(found) > 1
    assert all(prompt.text for prompt in found)


def test_prompts_that_contradict_each_other_or_are_empty_are_named(tmp_path):
    rows = [{"item": "a", "prompt": "A dragon."}, {"item": "a", "prompt": "A ship."}]
    with pytest.raises(InputError, match="item 'a' has two prompts"):
        read_prompts(write_table(tmp_path / "p.jsonl", *rows), StoryLayout())
    with pytest.raises(InputError, match=r"line 1.*the prompt is empty"):
        read_prompts(write_table(tmp_path / "q.jsonl", {"prompt": " "}), StoryLayout())
    (tmp_path / "r.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no prompts"):
        read_prompts(str(tmp_path / "r.txt"), StoryLayout())
