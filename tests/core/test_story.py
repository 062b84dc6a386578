from __future__ import annotations

import dataclasses
import pickle
import re
from dataclasses import fields
from pathlib import Path

import pytest

import fabula
from fabula.core.errors import InputError
from fabula.core.story import Story, count_text


def test_a_story_needs_no_more_than_an_id_and_a_text():
    story = Story("a", "")
    assert story.prompt is story.system is story.item is None
    assert story.references == story.images == ()


def test_lists_become_tuples_so_that_a_story_can_be_a_key():
    story = Story("a", "text", references=["one", "two"], images=["x.png"])
    assert story.references == ("one", "two")
    assert {story: 1}[story] == 1


def test_a_story_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Story("a", "text").text = "other"


@pytest.mark.parametrize("bad_id", ["", None, 7, b"a"])
def test_an_id_that_is_no_string_is_refused(bad_id):
    with pytest.raises(InputError, match="id must be a non-empty string"):
        Story(bad_id, "text")


@pytest.mark.parametrize("field", ["text", "prompt", "system", "item"])
@pytest.mark.parametrize("value", [1, 1.5, b"bytes", ["list"]])
def test_what_is_not_text_is_refused_by_story_and_field(field, value):
    with pytest.raises(InputError, match=f"story 'a': {field} must be a string"):
        Story(**{"id": "a", "text": "text", field: value})


def test_a_missing_text_says_how_to_write_an_empty_one():
    with pytest.raises(InputError, match='an empty story is ""'):
        Story("a", None)


@pytest.mark.parametrize("field", ["references", "images"])
@pytest.mark.parametrize("value", ["one string", [1], [None], ("a", b"b")])
def test_a_bare_string_is_not_taken_for_many_letters(field, value):
    with pytest.raises(InputError, match=f"story 'a': {field} must be several strings"):
        Story("a", "text", **{field: value})


@pytest.mark.parametrize("field", ["references", "images"])
@pytest.mark.parametrize("value", [None, 7])
def test_what_holds_no_strings_is_refused(field, value):
    with pytest.raises(InputError, match=field):
        Story("a", "text", **{field: value})


def test_fields_are_named_in_order():
    assert tuple(field.name for field in fields(Story)) == (
        "id", "text", "prompt", "references", "images", "system", "item",
    )  # fmt: skip


def test_a_story_pickles():
    story = Story("a", "text\ud800", "p", ("r",), ("i",), "s", "1")
    assert pickle.loads(pickle.dumps(story)) == story


def test_one_is_counted_as_one():
    assert count_text(1, "story", "stories") == "1 story"
    assert count_text(0, "item") == "0 items"
    assert count_text(1056, "story", "stories") == "1,056 stories"


NOUNS = "stories|items|systems|ratings|raters|pairs|files|comments|readings|posts|pages|prompts"


@pytest.mark.parametrize("room", ["cli", "scoring", "reports"])
def test_no_message_counts_one_stories(room):
    for path in (Path(fabula.__file__).parent / room).rglob("*.py"):
        found = re.findall(rf"\{{[^{{}}]*:,\}} (?:{NOUNS})\b.*", path.read_text(encoding="utf-8"))
        # Where several are certain a plain plural is right.
        certain = ("{total:,} stories", "{need.items:,} items", " raters it takes")
        assert [line for line in found if not line.startswith(certain)] == [], path
