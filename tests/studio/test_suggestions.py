"""Suggestions: one transaction with their job, for those who asked, and not too many."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import func, select

from fabula.core.author import Decoding
from fabula.core.errors import Conflict, InputError, NoCapacity, NotAllowed, NotFound
from fabula.studio.cards import add_card
from fabula.studio.drafts import discard_draft
from fabula.studio.edits import Edit
from fabula.studio.scenes import add_scene
from fabula.studio.suggestions import (
    MOST_UNFINISHED,
    ask_suggestion,
    cancel_suggestion,
    draft_context,
    list_suggestions,
    load_context,
    read_context,
    read_suggestion,
)
from fabula.studio.tables import assignments, entries, jobs, suggestions
from fabula.studio.versions import save_draft
from fabula.text.context.segments import context_from_json
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_machine


@pytest.fixture
def table(studio):
    put_machine(studio, decoding={"top_k": 7})
    return lay_table(studio)


@pytest.fixture
def draft(studio, table):
    return begin_draft(studio, table)


def suggest_jobs(studio):
    query = select(jobs.c.key, jobs.c.state).where(jobs.c.kind == "suggest")
    with studio.read() as db:
        return dict(db.execute(query).all())


def test_asking_adds_the_suggestion_and_its_job(studio, table, draft):
    asked = ask_suggestion(studio, table.person, draft.id, key="a", wanted="words=0-49", seed=5)
    assert (asked.status, asked.generated, asked.wanted, asked.seed) == (
        "pending", "", "words=0-49", 5,
    )  # fmt: skip
    assert not asked.is_finished
    assert asked.decoding == {**vars(Decoding()), "top_k": 7}
    assert suggest_jobs(studio) == {asked.id: "waiting"}
    assert read_suggestion(studio, table.person, asked.id) == asked
    assert list_suggestions(studio, table.person, draft.id) == [asked]


def test_the_same_key_asks_once(studio, table, draft):
    first = ask_suggestion(studio, table.person, draft.id, key="a")
    assert ask_suggestion(studio, table.person, draft.id, key="a", seed=99) == first
    assert len(suggest_jobs(studio)) == 1


def test_a_seed_is_drawn_and_settings_can_be_changed(studio, table, draft):
    seeds = set()
    for key in "abc":
        asked = ask_suggestion(
            studio, table.person, draft.id, key=key, decoding={"temperature": 0.5}
        )
        seeds.add(asked.seed)
        assert (asked.decoding["temperature"], asked.decoding["top_k"]) == (0.5, 7)
    assert len(seeds) == 3


def test_the_co_author_is_shown_the_game_and_the_text_up_to_the_cursor(studio, table):
    with studio.write() as db:
        db.execute(
            entries.insert().values(
                game_id=table.game_id, scene_id=table.scene_id, seq_id=1, format="establishment",
                author_id=table.person.id, text="The road is salt and the sky is low.",
            )
        )  # fmt: skip
    second = add_scene(studio, table.person, table.game_id, key="second")
    add_card(studio, table.person, table.game_id, key="c", namespace="obstacle", name="The storm")
    draft = begin_draft(studio, table, cards={"target": ["c"]}, scene_id=table.scene_id)
    text = "Rain came down."
    save_draft(studio, table.person, draft.id, key="s", base_version=0, edits=[Edit(0, 0, text)])
    asked = ask_suggestion(studio, table.person, draft.id, key="a", position=4)
    context = context_from_json(read_context(studio, table.person, asked.id))
    assert (context.text, asked.position, context.story) == ("Rain", 4, table.game_id)
    kinds = {segment.kind: segment for segment in context.segments}
    assert kinds["intro"].text == "The road is salt and the sky is low."
    assert kinds["challenge"].title == "The storm"
    assert context.entry["description"] == "Rain"
    # The game is not stored with every suggestion, but the co-author gets it.
    with studio.read() as db:
        row = db.execute(select(suggestions).where(suggestions.c.id == asked.id)).one()
        loaded = context_from_json(load_context(db, row))
    assert context.game is None and len(loaded.game["scenes"]) == 2
    # A scene that is not the draft's own does not stand before it.
    other = begin_draft(studio, table, "other", scene_id=second.id)
    with studio.read() as db:
        prepared = draft_context(db, other.id)
    assert [segment.kind for segment in prepared.segments] == ["previous"]


def test_what_cannot_be_asked_for_is_refused(studio, table, draft):
    for changes, message in (
        ({"position": 1}, "position 1 is not in the draft of 0 characters"),
        ({"position": -1}, "position -1"),
        ({"wanted": "lines=3"}, "no unit is called 'lines'"),
        ({"decoding": {"top_p": 2.0}}, "top_p is 2"),
        ({"decoding": {"heat": 2.0}}, "heat"),
        ({"seed": -1}, "seed is -1"),
        ({"key": ""}, "key is empty"),
    ):
        with pytest.raises(InputError, match=message):
            ask_suggestion(studio, table.person, draft.id, **{"key": "a"} | changes)
    assert suggest_jobs(studio) == {}


def test_who_waits_for_many_has_to_wait_even_when_asking_at_once(studio, table, draft):
    refused = []

    def ask(number):
        try:
            ask_suggestion(studio, table.person, draft.id, key=str(number))
        except NoCapacity as full:
            refused.append(full)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(MOST_UNFINISHED + 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = list_suggestions(studio, table.person, draft.id)
    assert (len(asked), len(refused)) == (MOST_UNFINISHED, 3)
    assert suggest_jobs(studio) == dict.fromkeys((one.id for one in asked), "waiting")
    cancel_suggestion(studio, table.person, asked[0].id)
    assert ask_suggestion(studio, table.person, draft.id, key="again").status == "pending"


def test_where_no_machine_is_free_nothing_is_left_behind(studio):
    table = lay_table(studio, "bob")
    draft = begin_draft(studio, table)
    with pytest.raises(NoCapacity):
        ask_suggestion(studio, table.person, draft.id, key="a")
    with studio.read() as db:
        assert db.scalar(select(func.count()).select_from(suggestions)) == 0


def test_a_machine_that_is_asked_for_is_recorded_as_chosen(studio, table, draft):
    other = put_machine(studio, "other")
    own = ask_suggestion(studio, table.person, draft.id, key="a", machine="lorem")
    chosen = ask_suggestion(studio, table.person, draft.id, key="b", machine="other")
    assert own.machine_id != chosen.machine_id == other
    with studio.read() as db:
        reasons = list(db.scalars(select(assignments.c.reason).order_by(assignments.c.turn)))
    assert reasons[-1] == "chosen"


def test_cancelling_stops_the_job_and_may_be_done_twice(studio, table, draft):
    asked = ask_suggestion(studio, table.person, draft.id, key="a")
    cancelled = cancel_suggestion(studio, table.person, asked.id)
    assert cancelled.status == "cancelled" and cancelled.is_finished
    assert suggest_jobs(studio) == {asked.id: "cancelled"}
    assert cancel_suggestion(studio, table.person, asked.id) == cancelled


def test_a_suggestion_is_for_who_asked_for_it(studio, table, draft):
    asked = ask_suggestion(studio, table.person, draft.id, key="a")
    bob, eve = put_person(studio, "bob"), put_person(studio, "eve", "researcher")
    for verb in (read_suggestion, read_context, cancel_suggestion):
        with pytest.raises(NotFound):
            verb(studio, bob, asked.id)
    with pytest.raises(NotFound):
        ask_suggestion(studio, bob, draft.id, key="b")
    assert read_suggestion(studio, eve, asked.id) == asked
    with pytest.raises(NotAllowed):
        cancel_suggestion(studio, eve, asked.id)
    with pytest.raises(NotAllowed):
        ask_suggestion(studio, eve, draft.id, key="b")


def test_a_draft_that_has_ended_asks_for_nothing(studio, table, draft):
    discard_draft(studio, table.person, draft.id)
    with pytest.raises(Conflict, match="the draft is discarded"):
        ask_suggestion(studio, table.person, draft.id, key="a")
    with studio.read() as db:
        assert draft_context(db, draft.id) is None
