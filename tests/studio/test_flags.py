"""Games of machine text alone: flagged by what was stored, excluded by a person."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select, update

from fabula.core.errors import InputError, NotAllowed, NotFound
from fabula.studio.edits import Edit
from fabula.studio.export import export_studio
from fabula.studio.filters import Filter
from fabula.studio.flags import exclude_story, flag_games
from fabula.studio.games import create_game, exclude_game
from fabula.studio.publishing import publish_entry
from fabula.studio.quality import read_opinions
from fabula.studio.scenes import add_scene
from fabula.studio.storium_door import PLATFORM, ask_for_story, upload_story
from fabula.studio.storium_feedback import finalize
from fabula.studio.tables import audit, stories, suggestions
from fabula.studio.versions import save_draft
from fakes.many_suggestions import add_many
from fakes.storium_games import SMALL, entry
from fakes.studio_people import put_person
from fakes.studio_writing import Table, begin_draft, lay_table, put_suggestion
from fakes.suggestion_rows import offer

MACHINE = "The lantern burned over the harbour while wolves waited by the river."


def publish(studio, table, key, own=""):
    """Publish what a machine wrote, with words of one's own after it."""
    draft = begin_draft(studio, table, key)
    suggestion = put_suggestion(studio, draft, MACHINE)
    edits = [Edit(0, 0, MACHINE, source="machine", suggestion_id=suggestion)]
    if own:
        edits.append(Edit(len(MACHINE), len(MACHINE), own))
    save_draft(studio, table.person, draft.id, key="k", base_version=0, edits=edits)
    publish_entry(studio, table.person, draft.id, version=1)
    return suggestion


def begin_game(studio, table, key):
    game = create_game(studio, table.person, key=key, title=f"Game {key}")
    return Table(table.person, game.id, add_scene(studio, table.person, game.id, key="s").id)


def test_a_game_of_machine_text_is_flagged_and_can_be_left_out(studio):
    table, eve = lay_table(studio), put_person(studio, "eve", "researcher")
    lazy, busy, short = (begin_game(studio, table, key) for key in ("lazy", "busy", "short"))
    for place in range(3):
        publish(studio, lazy, f"l{place}")
        publish(studio, busy, f"b{place}", own=" Mara rowed on." if place else "")
    publish(studio, short, "s0")
    [flagged] = flag_games(studio, eve)
    assert (flagged.game, flagged.title, flagged.entries) == (lazy.game_id, "Game lazy", 3)
    assert (flagged.machine_share, flagged.unedited_suggestions) == (1.0, 3)
    assert not flagged.is_excluded and not flagged.is_story
    # 69 characters of a machine in each entry, and 15 of a person's in two of three.
    least = 3 * 69 / (3 * 69 + 2 * 15)
    assert len(MACHINE) == 69
    assert {each.title for each in flag_games(studio, eve, share=least - 1e-9)} == {
        "Game lazy",
        "Game busy",
    }
    assert len(flag_games(studio, eve, share=least + 1e-6)) == 1
    assert len(flag_games(studio, eve, least_entries=1)) == 2
    assert flag_games(studio, eve, Filter(game=busy.game_id)) == []
    # Flagged games count until somebody says otherwise.
    assert len(read_opinions(studio, eve).suggestions) == 7
    assert len(read_opinions(studio, eve, Filter(include_flagged=False)).suggestions) == 4
    exclude_game(studio, eve, lazy.game_id)
    [flagged] = flag_games(studio, eve)
    assert flagged.is_excluded and len(read_opinions(studio, eve).suggestions) == 4


def test_flags_are_for_researchers_and_ask_for_sound_bounds(studio):
    many = add_many(studio, 6, games_of=3)
    assert flag_games(studio, many.researcher) == []
    with pytest.raises(NotAllowed):
        flag_games(studio, many.people[0])
    for wrong in ({"share": 0.0}, {"share": 1.5}, {"least_entries": 0}):
        with pytest.raises(InputError, match="share is"):
            flag_games(studio, many.researcher, **wrong)


def upload(studio, number, published):
    """Upload another export of one game, and publish in it what a machine wrote, or not."""
    story_id = upload_story(studio, PLATFORM, {**SMALL, "exported_at": f"2020-01-0{number}"}).id
    with studio.write() as db:
        db.execute(update(stories).values(status="ready"))
    asked = ask_for_story(studio, PLATFORM, story_id, entry(9, None)).id
    with studio.write() as db:
        is_it = suggestions.c.id == asked
        db.execute(update(suggestions).where(is_it).values(status="done", generated=MACHINE))
    finalize(studio, PLATFORM, asked, entry(9, published))
    return story_id


def test_uploaded_stories_are_flagged_and_excluded_by_their_game(studio, tmp_path):
    offer(studio)
    eve = put_person(studio, "eve", "researcher")
    made = [upload(studio, number, MACHINE) for number in (1, 2, 3)]
    [flagged] = flag_games(studio, eve)
    assert (flagged.game, flagged.is_story, flagged.entries) == (SMALL["game_pid"], True, 3)
    assert (flagged.machine_share, flagged.unedited_suggestions) == (1.0, 3)
    assert read_opinions(studio, eve).games == (SMALL["game_pid"],) * 3
    assert read_opinions(studio, eve, Filter(include_flagged=False)).games == ()
    assert len(read_opinions(studio, eve, Filter(game=made[1])).games) == 1
    assert exclude_story(studio, eve, made[0]) == sorted(made)
    assert flag_games(studio, eve)[0].is_excluded
    # The next export of the game is excluded too.
    upload(studio, 4, "Snow fell on nobody at all.")
    assert read_opinions(studio, eve).games == ()
    assert len(read_opinions(studio, eve, Filter(include_excluded=True)).games) == 4
    assert export_studio(studio, None, tmp_path / "out").rows["suggestions.json"] == 0
    everything = export_studio(studio, None, tmp_path / "all", excluded=True)
    assert everything.rows["suggestions.json"] == 4
    assert len(exclude_story(studio, eve, SMALL["game_pid"], is_excluded=False)) == 4
    assert len(read_opinions(studio, eve).games) == 4
    with studio.read() as db:
        logged = select(func.count()).where(audit.c.action == "exclude_story")
        assert db.scalar(logged) == 2


def test_who_excludes_a_story_is_a_researcher_and_names_one(studio):
    with pytest.raises(NotAllowed):
        exclude_story(studio, put_person(studio, "ann"), "x")
    with pytest.raises(NotFound, match="there is no story x"):
        exclude_story(studio, put_person(studio, "eve", "researcher"), "x")
