from __future__ import annotations

from typing import Any

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.datasets.tables.stories import ROLES, StoryColumns, check_roles


def story(row: dict[str, Any], **given: str) -> Story:
    return StoryColumns.choose(list(row), given, "here").make_story(row, 7, "here")


def test_every_part_has_its_usual_name() -> None:
    row = {
        "id": "1",
        "text": "t",
        "prompt": "p",
        "references": ["r", "s"],
        "images": ["i.png"],
        "system": "m",
        "item": "x",
    }
    assert story(row) == Story("1", "t", "p", ("r", "s"), ("i.png",), "m", "x")
    assert set(row) == set(ROLES)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("story", "text"),
        ("Generated_Story", "text"),
        (" OUTPUT ", "text"),
        ("response", "text"),
        ("story_id", "id"),
        ("writing_prompt", "prompt"),
        ("Human", "references"),
        ("ref", "references"),
        ("Model", "system"),
        ("item_id", "item"),
    ],
)
def test_a_column_is_guessed_by_its_usual_names(name: str, role: str) -> None:
    found = StoryColumns.choose([name, "text" if role != "text" else "other"], {}, "here")
    assert found.names[role] == (name,)


def test_text_comes_before_story() -> None:
    assert story({"story": "no", "text": "yes"}).text == "yes"


def test_a_column_may_be_set_against_the_guess() -> None:
    row = {"text": "guess", "tale": "set", "prompt": "p", "id": "guess", "number": "n"}
    assert story(row, text="tale", id="number") == Story("n", "set", "p")


def test_several_columns_hold_references() -> None:
    row = {"text": "t", "r1": "one", "r2": None, "r3": "", "r4": ["two", "three"]}
    assert story(row, references="r1, r2,r3,r4").references == ("one", "two", "three")


def test_an_empty_name_leaves_a_part_out() -> None:
    row = {"id": "1", "text": "t", "prompt": "p", "system": "s"}
    assert story(row, prompt="", system="", id="") == Story("7", "t")
    with pytest.raises(InputError, match="no column for the text"):
        story(row, text="")


def test_a_cell_may_spell_a_list_of_strings() -> None:
    assert story({"text": "t", "refs": '["a", "b"]'}).references == ("a", "b")
    for plain in ('["a", 1]', '["a"', "[a]", '["'):
        assert story({"text": "t", "refs": plain}).references == (plain,)


def test_without_an_id_the_number_is_the_id() -> None:
    assert story({"text": "t"}).id == "7"


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (12, "12"), (1.5, "1.5")])
def test_a_number_may_be_an_id_system_or_item(value: float, text: str) -> None:
    made = story({"text": "t", "id": value, "system": value, "item": value})
    assert (made.id, made.system, made.item) == (text, text, text)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"text": None}, r"here: field 'text' \(the text\) is missing or null"),
        ({"story": None}, r"field 'story' \(the text\)"),
        ({"text": 5}, "field 'text' holds a int, not a string"),
        ({"text": ["a"]}, "field 'text' holds a list"),
        ({"text": "t", "id": ""}, r"field 'id' \(the id\) is empty"),
        ({"text": "t", "id": None}, r"field 'id' \(the id\) is empty"),
        ({"text": "t", "id": True}, "field 'id' holds a bool"),
        ({"text": "t", "prompt": {"a": 1}}, "field 'prompt' holds a dict"),
        ({"text": "t", "references": [1]}, "field 'references' is no string or list of strings"),
        ({"text": "t", "references": {"a": "b"}}, "field 'references' is no string"),
        ({"text": "t", "images": 4}, "field 'images' is no string"),
    ],
)
def test_a_cell_that_will_not_do_is_named(row: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        story(row)
    assert caught.value.remedy


def test_a_row_that_lacks_a_column_of_the_first_row_is_named_only_for_the_text() -> None:
    columns = StoryColumns.choose(["text", "prompt", "refs"], {}, "here")
    assert columns.make_story({"text": "t"}, 1, "here") == Story("1", "t")
    with pytest.raises(InputError, match="there: field 'text'"):
        columns.make_story({"prompt": "p"}, 2, "there")


def test_no_column_for_the_text_lists_those_there_are() -> None:
    with pytest.raises(InputError, match=r"here: no column for the text among a, b; .*--column"):
        StoryColumns.choose(["b", "a"], {}, "here")


def test_a_column_that_is_not_there_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="here: no column 'stroy'; did you mean 'story'"):
        StoryColumns.choose(["story"], {"text": "stroy"}, "here")


def test_a_part_that_stories_do_not_have_is_refused() -> None:
    check_roles(dict.fromkeys(ROLES, "x"))
    with pytest.raises(SettingError, match="a story has no 'txt'; did you mean 'text'"):
        check_roles({"txt": "story"})
