from __future__ import annotations

import pytest

from fabula.core.errors import NotFound
from fabula.studio.authorship import Run
from fabula.studio.edits import Edit
from fabula.studio.games import invite_member
from fabula.studio.publishing import publish_entry
from fabula.studio.reading import (
    count_entries,
    read_marks,
    read_story,
    split_by_origin,
    write_markdown,
    write_plain,
)
from fabula.studio.scenes import add_scene, list_entries, read_game
from fabula.studio.storium_json import import_game
from fabula.studio.versions import save_draft
from fakes.storium_games import SMALL
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_suggestion


@pytest.fixture
def table(studio):
    return lay_table(studio)


def publish(studio, table, *edits, key="draft"):
    draft = begin_draft(studio, table, key=key)
    save_draft(studio, table.person, draft.id, key="1", base_version=0, edits=edits)
    return publish_entry(studio, table.person, draft.id, version=1).entry_id


def test_scenes_tell_how_many_entries_they_have(studio, table):
    publish(studio, table, Edit(0, 0, "Rain."))
    empty = add_scene(studio, table.person, table.game_id, key="empty")
    counts = count_entries(studio, table.person, table.game_id)
    assert counts == {table.scene_id: 1, empty.id: 0}
    with pytest.raises(NotFound):
        count_entries(studio, put_person(studio, "eve"), table.game_id)


def test_marks_are_for_who_may_read_the_draft(studio, table):
    draft = begin_draft(studio, table)
    asked = put_suggestion(studio, draft, " It fell.")
    edits = [Edit(0, 0, "Rain."), Edit(5, 5, " It fell.", source="machine", suggestion_id=asked)]
    save_draft(studio, table.person, draft.id, key="1", base_version=0, edits=edits)
    entry_id = publish_entry(studio, table.person, draft.id, version=1).entry_id
    marks = {entry_id: (Run(5, "person"), Run(9, "machine", asked))}
    assert read_marks(studio, table.person, table.game_id, [entry_id]) == marks
    dan, bob = put_person(studio, "dan", "researcher"), put_person(studio, "bob")
    assert read_marks(studio, dan, table.game_id, [entry_id]) == marks
    invite_member(studio, table.person, table.game_id, bob.id, "player")
    assert read_marks(studio, bob, table.game_id, [entry_id]) == {}
    [entry], _ = list_entries(studio, bob, table.game_id)
    parts = list(split_by_origin(entry.text, marks[entry_id]))
    assert parts == [("person", "Rain."), ("machine", " It fell.")]


def test_what_no_mark_covers_is_a_persons():
    assert list(split_by_origin("abc", ())) == [("person", "abc")]
    assert list(split_by_origin("", ())) == []
    runs = (Run(1, "edited", "s"), Run(0, "machine", "s"), Run(2, "person"))
    assert list(split_by_origin("abc", runs)) == [("edited", "a"), ("person", "bc")]


def test_a_story_is_written_as_text_and_as_markdown(studio, table):
    publish(studio, table, Edit(0, 0, "Rain fell.\n\nIt *did*.\n"))
    add_scene(studio, table.person, table.game_id, key="b", title="The\nford")
    story = read_story(studio, table.person, table.game_id)
    assert write_plain(story) == (
        "The salt road\n\nScene 1\n\nRain fell.\n\nIt *did*.\n\nThe\nford\n"
    )
    assert write_markdown(story) == (
        "# The salt road\n\n## Scene 1\n\n**Narrator**\n\nRain fell.\n\nIt *did*.\n\n## The ford\n"
    )


def test_a_whole_game_is_told_in_its_order(studio):
    ann = put_person(studio, "ann")
    game_id = import_game(studio, ann, SMALL)
    story = read_story(studio, ann, game_id)
    told, _ = list_entries(studio, ann, game_id)
    texts = [passage.text for chapter in story.chapters for passage in chapter.passages]
    assert texts == [entry.text for entry in told if entry.text]
    names = {passage.teller for chapter in story.chapters for passage in chapter.passages}
    assert names <= {"Narrator"} | {one.name for one in read_game(studio, ann, game_id).characters}
    with pytest.raises(NotFound):
        read_story(studio, put_person(studio, "eve"), game_id)
