"""Shares of drafts and games, against a recount from the log."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert

from fabula.core.errors import NotFound
from fabula.studio.authorship import share_characters, share_words
from fabula.studio.drafts import read_draft
from fabula.studio.edits import Edit
from fabula.studio.film import read_film, read_origins
from fabula.studio.games import invite_member
from fabula.studio.privacy import delete_person
from fabula.studio.publishing import publish_entry
from fabula.studio.shares import count_game
from fabula.studio.tables import entries, new_id
from fabula.studio.versions import read_log, restore_version, save_draft
from fakes.recount import count_signs, count_words, recount_signs
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_suggestion

SUGGESTED = ("The ford rose. We ran on.\n", "Nobody's lamp burnt; “why?” 🌧 ")


@pytest.fixture
def table(studio):
    return lay_table(studio)


def save(studio, table, draft, *edits):
    return save_draft(
        studio, table.person, draft.id, key=f"v{draft.version}", base_version=draft.version,
        edits=edits,
    )  # fmt: skip


def write_at_random(studio, table, draw):
    """A draft in which edits follow each other as they were drawn, and perhaps a way back."""
    draft = begin_draft(studio, table, key=new_id())
    suggestions = [put_suggestion(studio, draft, text) for text in SUGGESTED]
    length = 0
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, length))
        stop = draw(st.integers(start, min(length, start + 12)))
        number = draw(st.sampled_from([None, None, 0, 1]))
        if number is None:
            edit = Edit(start, stop, draw(st.text("ab'. \n🌧é", max_size=6)))
        else:
            size = draw(st.integers(1, len(SUGGESTED[number])))
            edit = Edit(start, stop, SUGGESTED[number][:size], "machine", suggestions[number])
        draft = save(studio, table, draft, edit)
        length = len(draft.text)
    if draft.version and draw(st.booleans()):
        number = draw(st.integers(0, draft.version))
        draft = restore_version(
            studio, table.person, draft.id, number=number, key="back", base_version=draft.version
        )
    return draft


def recount(studio, person, draft_id):
    signs = recount_signs(read_log(studio, person, draft_id))
    return count_signs(signs), count_words(signs)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=12,
    deadline=None,
)
@given(data=st.data())
def test_shares_of_a_draft_are_those_of_a_recount_from_its_log(studio, table, data):
    draft = write_at_random(studio, table, data.draw)
    for shares, counted in zip(
        (share_characters(draft.marks), share_words(draft.text, draft.marks)),
        recount(studio, table.person, draft.id),
        strict=True,
    ):
        total = sum(counted.values())
        assert shares.n == total
        for origin, number in counted.items():
            share = getattr(shares, origin)
            assert share == number / total if total else math.isnan(share)


@pytest.fixture
def game(studio, table):
    """Two entries of Ann's, one of Ben's, and one that came from elsewhere."""
    # Ann: 11 + 14 characters, of which "fell" was put in place of "rose"; then a move of her own.
    first = begin_draft(studio, table)
    ford = put_suggestion(studio, first, "The ford rose.")
    first = save(
        studio, table, first, Edit(0, 0, "Rain came. "),
        Edit(11, 11, "The ford rose.", "machine", ford), Edit(20, 24, "fell"),
    )  # fmt: skip
    publish_entry(studio, table.person, first.id, version=1)
    second = save(studio, table, begin_draft(studio, table, key="second"), Edit(0, 0, "Snow."))
    publish_entry(studio, table.person, second.id, version=1)
    ben = put_person(studio, "ben")
    invite_member(studio, table.person, table.game_id, ben.id, "narrator")
    of_ben = type(table)(ben, table.game_id, table.scene_id)
    third = begin_draft(studio, of_ben, key="third")
    wind = put_suggestion(studio, third, "Wind rose up.")
    third = save(studio, of_ben, third, Edit(0, 0, "Wind rose up.", "machine", wind))
    publish_entry(studio, ben, third.id, version=1)
    with studio.write() as db:
        place = {"game_id": table.game_id, "scene_id": table.scene_id, "format": "addition"}
        db.execute(insert(entries).values(id=new_id(), seq_id=9, text="From elsewhere.", **place))
    return ben


def test_a_game_is_counted_by_entry_by_author_and_in_all(studio, table, game):
    counted = count_game(studio, table.person, table.game_id)
    first, second, third, foreign = counted.entries
    # "The ford fell.": nine characters and the full stop are the machine's, two of three words.
    assert first.counts.characters == {"person": 11, "machine": 10, "edited": 4}
    assert first.counts.words == {"person": 2, "machine": 2, "edited": 1}
    assert second.counts.words == {"person": 1}
    assert third.counts.characters == {"machine": 13}
    assert foreign.counts is None and counted.unknown == 1
    ann, ben = counted.authors
    assert (ann.name, ann.entries, ben.name, ben.entries) == ("ann", 2, "ben", 1)
    assert ann.counts.characters == {"person": 16, "machine": 10, "edited": 4}
    assert counted.total.words == {"person": 3, "machine": 5, "edited": 1}
    characters, words = counted.total.share()
    assert (characters.n, words.machine) == (43, 5 / 9)


def test_a_game_adds_up_to_a_recount_of_its_logs(studio, table, game):
    counted = count_game(studio, table.person, table.game_id)
    for entry in counted.entries[:3]:
        reader = table.person if entry.author_id == table.person.id else game
        characters, words = recount(studio, reader, entry.draft_id)
        assert {**characters, **entry.counts.characters} == characters
        assert {**words, **entry.counts.words} == words


def test_what_somebody_wrote_who_was_forgotten_is_no_longer_anybodys(studio, table, game):
    delete_person(studio, None, game.id)
    counted = count_game(studio, table.person, table.game_id)
    assert counted.unknown == 2
    assert [author.name for author in counted.authors] == ["ann"]


def test_a_game_without_entries_has_no_shares(studio, table):
    counted = count_game(studio, table.person, table.game_id)
    assert counted.entries == counted.authors == []
    assert math.isnan(counted.total.share()[0].person)


def test_games_and_drafts_of_others_are_not_there(studio, table):
    draft = begin_draft(studio, table)
    stranger, dan = put_person(studio, "eva"), put_person(studio, "dan", "researcher")
    for read, what in (
        (count_game, table.game_id),
        (read_film, draft.id),
        (read_origins, draft.id),
    ):
        with pytest.raises(NotFound):
            read(studio, stranger, what)
        assert read(studio, dan, what)


def test_passages_and_film_of_a_draft_come_from_its_log(studio, table):
    draft = begin_draft(studio, table)
    ford = put_suggestion(studio, draft, "The ford rose.")
    save(studio, table, draft, Edit(0, 0, "Rain. "), Edit(6, 6, "The ford rose.", "machine", ford))
    origins = read_origins(studio, table.person, draft.id)
    assert [(one.start, one.stop, one.origin, one.suggestion_id) for one in origins.passages] == [
        (0, 6, "person", None),
        (6, 20, "machine", ford),
    ]
    [sitting] = origins.sittings
    assert (sitting.written, sitting.accepted, sitting.removed) == (6, 14, 0)
    assert origins.moments == [0]
    film = read_film(studio, table.person, draft.id)
    assert film.inserted == ["Rain. ", "The ford rose."]
    assert film.authors == [("person", None), ("machine", ford)]
    assert read_draft(studio, table.person, draft.id).version == sum(film.versions) == 1
