"""Stories for a campaign: any file, with what is shown of them; what lacks is named."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fabula.core.errors import InputError
from fabula.studio.campaigns.definition import Show, StoryForm, make_definition
from fabula.studio.campaigns.stories import describe_gaps, read_material

SCALE = {"name": "coherence", "kind": "scale", "text": "Does it make sense?"}
BEST = {"name": "best", "kind": "best", "text": "Which is best?"}


@pytest.fixture
def ask(tmp_path):
    """Write rows and read them for a campaign."""

    def read(rows, *, name="stories.jsonl", form=None, show=None, **changed):
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        plain = {"name": "try", "title": "A try", "instructions": "Read.", "questions": [SCALE]}
        definition = make_definition({**plain, "stories": name, **changed})
        definition = replace(definition, form=form or StoryForm(), show=show or Show())
        return definition, read_material(definition, tmp_path)

    return read


def rows(*names, **fields):
    return [{"id": name, "text": f"{name} went home.", **fields} for name in names]


def test_fields_that_are_shown_come_with_the_story(ask):
    row = {"id": "1", "text": "Rain.", "aspect": "ending", "rating": 4.0, "cards": ["Rope", "Lamp"]}
    row |= {"challenge": {"name": "The bridge", "points": 3}, "input": "Given.", "other": "no"}
    show = Show(fields=("aspect", "rating", "cards", "challenge"), input=True)
    _, material = ask([row], show=show)
    assert material[0].extra == {
        "input": "Given.",
        "aspect": "ending",
        "rating": "4",
        "cards": "Rope\nLamp",
        "challenge": "name: The bridge\npoints: 3",
    }


def test_columns_and_form_are_told_in_the_campaign_file(tmp_path):
    (tmp_path / "s.csv").write_text("nr;output\n1;Rain.\n2;Sun.\n", encoding="utf-8")
    plain = {"name": "try", "title": "A try", "instructions": "Read.", "questions": [SCALE]}
    columns = {"text": "output", "id": "nr"}
    told = {"stories": "s.csv", "form": {"columns": columns, "delimiter": ";"}}
    material = read_material(make_definition(plain | told), tmp_path)
    assert [(each.story.id, each.story.text) for each in material] == [
        ("1", "Rain."),
        ("2", "Sun."),
    ]


def test_a_data_set_can_be_asked_about(tmp_path):
    plain = {"name": "try", "title": "A try", "instructions": "Read.", "questions": [SCALE]}
    assert read_material(make_definition(plain | {"stories": "examples"}), tmp_path)


def test_a_field_that_no_row_has_is_named(ask):
    with pytest.raises(InputError, match=r"stories\.jsonl: no column 'comment'.*did you mean"):
        ask(rows("a", comments="x"), show=Show(fields=("comment",)))


def test_what_is_shown_of_no_story_is_an_error_and_of_some_a_note(ask):
    with pytest.raises(InputError, match=r"shown the reference.*reference = false below \[show\]"):
        ask(rows("a"), show=Show(reference=True))
    with pytest.raises(InputError, match="shown the prompt"):
        ask(rows("a"), show=Show(prompt=True))
    several = [*rows("a", prompt="Go."), *rows("b", "c")]
    definition, material = ask(several, show=Show(prompt=True))
    assert describe_gaps(definition, material) == ["2 stories of 3 without prompt"]


def test_items_with_too_few_stories_are_named(ask):
    whole = [
        {"id": f"{i}{s}", "text": "Rain.", "item": str(i), "system": s}
        for i in (1, 2)
        for s in "ab"
    ]
    assert len(ask(whole, unit="pair", questions=[BEST])[1]) == 4
    few = [*whole, *rows("c", item="alone"), *rows("d", item="lonely")]
    with pytest.raises(
        InputError, match=r"2 stories of one item, and 2 items have fewer: 'alone' \(1\), 'lonely'"
    ):
        ask(few, unit="pair", questions=[BEST])
    with pytest.raises(InputError, match=r"1 story has no item and no prompt.*within = 'all'"):
        ask([*whole, *rows("e")], unit="pair", questions=[BEST])
    assert len(ask([*few, *rows("e")], unit="group", size=3, within="all")[1]) == 7


def test_stories_on_one_prompt_are_of_one_item(ask):
    assert ask(rows("a", "b", prompt="Go."), unit="pair", questions=[BEST])
    several = [*rows("a", prompt="Go.", system="x"), *rows("b", prompt="Go.", system="y")]
    _, material = ask([*several, *rows("c", prompt="Stay.", system="x")])
    assert [each.story.item for each in material] == ["Go.", "Go.", "Stay."]
    _, material = ask([*several, *rows("d", prompt="Go.", system="x")])
    assert [each.story.item for each in material] == [None, None, None]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            [{"id": str(n), "text": " "} for n in range(7)],
            "7 stories have no text: '0', .*and 2 more",
        ),
        ([{"id": "x", "text": "a" * 200_001}], "1 story has more than 200,000 characters: 'x'"),
        ([{"id": "x", "text": "a", "item": "i" * 501}], "a longer item than 500 characters: 'x'"),
    ],
)
def test_stories_that_cannot_be_asked_about_are_named(ask, given, words):
    with pytest.raises(InputError, match=words):
        ask(given)


def test_stories_are_found_by_a_whole_path_too(ask, tmp_path):
    definition, material = ask(rows("a"))
    whole = str(tmp_path / definition.stories)
    assert read_material(replace(definition, stories=whole), tmp_path / "far") == material


def test_no_stories_and_no_file_are_said(ask, tmp_path):
    with pytest.raises(InputError, match="holds no stories"):
        ask([])
    definition, _ = ask(rows("a"))
    with pytest.raises(InputError, match="names no file of stories"):
        read_material(replace(definition, stories=""), tmp_path)
    with pytest.raises(InputError, match=r"there is no .*gone/far\.csv"):
        read_material(replace(definition, stories="gone/far.csv"), tmp_path)
    with pytest.raises(InputError, match=r"gone\.csv: no such file"):
        read_material(replace(definition, stories="gone.csv"), tmp_path)


def test_pictures_are_named_from_the_stories_folder_or_another(ask, tmp_path):
    show = Show(pictures=True)
    _, material = ask(rows("a", images=["1.png"]), show=show)
    assert material[0].story.images == (str(tmp_path / "1.png"),)
    _, material = ask(rows("a", images=["1.png"]), show=show, images="photos")
    assert material[0].story.images == (str(tmp_path / "photos" / "1.png"),)
    with pytest.raises(InputError, match="1 story has no images: 'b'"):
        ask([*rows("a", images=["1.png"]), *rows("b")], show=show)
