"""Savings of a draft: what the log says is what stands there, whoever saves, whenever."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.authorship import Run, forget_edits, replay
from fabula.studio.drafts import discard_draft, read_draft
from fabula.studio.edits import Edit
from fabula.studio.tables import versions
from fabula.studio.versions import (
    SNAPSHOT_EVERY,
    StaleVersion,
    list_versions,
    name_version,
    read_log,
    read_past,
    read_version,
    restore_version,
    save_draft,
)
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_suggestion

_numbers = count()


@pytest.fixture
def table(studio):
    return lay_table(studio)


@pytest.fixture
def draft(studio, table):
    return begin_draft(studio, table)


@pytest.fixture
def save(studio, table, draft):
    """Save edits on the last version, with a key of their own."""

    def save_edits(*edits, **other):
        current = read_draft(studio, table.person, draft.id)
        how = {"key": f"k{current.version}", "base_version": current.version} | other
        return save_draft(studio, table.person, draft.id, edits=edits, **how)

    return save_edits


def test_edits_follow_each_other_and_are_logged_with_what_gave_way(studio, table, save):
    saved = save(Edit(0, 0, "The ford rose."), Edit(9, 13, "fell"))
    assert (saved.text, saved.version, saved.marks) == ("The ford fell.", 1, (Run(14, "person"),))
    log = read_log(studio, table.person, saved.id)
    assert [(e.version, e.position, e.removed, e.inserted) for e in log] == [
        (1, 0, "", "The ford rose."),
        (1, 1, "rose", "fell"),
    ]
    assert {edit.person_id for edit in log} == {table.person.id}


def test_positions_count_code_points(save):
    save(Edit(0, 0, "🌧🌧 é"))
    assert save(Edit(1, 2, "wind")).text == "🌧wind é"


def test_who_saves_on_an_old_version_is_told_the_new_one(studio, table, save, draft):
    save(Edit(0, 0, "one"))
    with pytest.raises(StaleVersion, match="at version 1, not 0") as caught:
        save(Edit(0, 0, "two"), key="other", base_version=0)
    assert caught.value.version == 1
    assert read_draft(studio, table.person, draft.id).text == "one"


def test_the_same_key_gives_the_same_answer_whatever_came_after(save):
    first = save(Edit(0, 0, "one"), key="a")
    save(Edit(3, 3, " two"), key="b")
    again = save(Edit(0, 0, "one"), key="a", base_version=0)
    assert again == first
    assert save(key="c").text == "one two"


def test_edits_made_offline_keep_their_moment(studio, table, save):
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))
    saved = save(Edit(0, 0, "x", made_at=moment), Edit(1, 1, "y"))
    first, second = read_log(studio, table.person, saved.id)
    assert first.made_at == moment and first.saved_at > moment
    assert second.made_at <= second.saved_at


def test_edits_that_will_not_do_save_nothing(studio, table, draft, save):
    for edit in (Edit(0, 9, "x"), Edit(0, 0, "a\0b"), Edit(0, 0, "x", "machine", "0" * 32)):
        with pytest.raises(InputError, match=r"edits\[1\]"):
            save(Edit(0, 0, "abc"), edit)
    assert read_draft(studio, table.person, draft.id) == draft
    assert read_log(studio, table.person, draft.id) == []


def test_a_machines_span_is_taken_where_the_suggestion_holds_it(studio, draft, save):
    suggestion = put_suggestion(studio, draft, "The ford rose. We ran.")
    saved = save(Edit(0, 0, "The ford rose.", "machine", suggestion))
    assert saved.marks == (Run(14, "machine", suggestion),)
    saved = save(Edit(14, 14, " We ran", "machine", suggestion))
    assert saved.marks == (Run(21, "machine", suggestion),)


def test_nobody_can_say_of_a_text_that_a_machine_wrote_it(studio, table, draft, save):
    other = begin_draft(studio, table, key="other")
    elsewhere = put_suggestion(studio, other, "The ford rose.")
    here = put_suggestion(studio, draft, "The wind fell.")
    for suggestion in (elsewhere, here, "0" * 32):
        with pytest.raises(InputError, match="did not write this text"):
            save(Edit(0, 0, "The ford rose.", "machine", suggestion))
    assert read_draft(studio, table.person, draft.id).version == 0


def test_what_is_pasted_out_of_a_suggestion_is_the_machines(studio, draft, save):
    suggestion = put_suggestion(studio, draft, "The ford rose and we ran home.")
    assert save(Edit(0, 0, "The ford rose and we")).marks == (Run(20, "machine", suggestion),)
    # Four words anybody may come by.
    assert save(Edit(0, 0, "The ford rose and ")).marks[0] == Run(18, "person")


def test_a_version_has_a_name_and_may_get_another(studio, table, draft, save):
    save(Edit(0, 0, "a"), name="before the storm")
    save(Edit(1, 1, "b"))
    save(name="only named")
    name_version(studio, table.person, draft.id, 2, "the storm")
    listed = list_versions(studio, table.person, draft.id)
    assert [(v.number, v.name, v.edits) for v in listed] == [
        (1, "before the storm", 1), (2, "the storm", 1), (3, "only named", 0),
    ]  # fmt: skip
    with pytest.raises(NotFound, match="no version 9"):
        name_version(studio, table.person, draft.id, 9, "x")
    with pytest.raises(InputError, match="name is empty"):
        save(name=" ")


def test_nothing_to_save_saves_nothing(studio, table, draft, save):
    assert save() == draft
    assert list_versions(studio, table.person, draft.id) == []


def test_going_back_is_an_edit_and_keeps_who_wrote_what(studio, table, draft, save):
    suggestion = put_suggestion(studio, draft, "The ford rose.")
    save(Edit(0, 0, "Rain. "))
    save(Edit(6, 6, "The ford rose.", "machine", suggestion), Edit(15, 19, "fell"))
    before = read_version(studio, table.person, draft.id, 2)
    assert [run.origin for run in before.marks] == ["person", "machine", "edited", "machine"]
    save(Edit(0, 20, "All gone"))
    how = {"number": 2, "key": "back", "base_version": 3}
    back = restore_version(studio, table.person, draft.id, **how)
    assert (back.version, back.text, back.marks) == (4, before.text, before.marks)
    assert restore_version(studio, table.person, draft.id, **how) == back
    assert read_version(studio, table.person, draft.id, 3).text == "All gone"
    empty = restore_version(studio, table.person, draft.id, number=0, key="0", base_version=4)
    assert (empty.text, empty.marks) == ("", ())
    frames = list(replay(read_log(studio, table.person, draft.id)))
    assert [frame.version for frame in frames][-2:] == [4, 5]
    assert forget_edits(frames[-2].marks) == before.marks


def test_a_draft_that_has_ended_takes_no_edits(studio, table, draft, save):
    discard_draft(studio, table.person, draft.id)
    with pytest.raises(Conflict, match="the draft is discarded"):
        save(Edit(0, 0, "x"))


def test_a_draft_is_its_authors(studio, table, draft, save):
    save(Edit(0, 0, "mine"))
    bob, eve = put_person(studio, "bob"), put_person(studio, "eve", "researcher")
    with pytest.raises(NotFound):
        read_draft(studio, bob, draft.id)
    with pytest.raises(NotFound):
        save_draft(studio, bob, draft.id, key="k", base_version=1, edits=[Edit(0, 0, "x")])
    assert read_draft(studio, eve, draft.id).text == "mine"
    with pytest.raises(NotAllowed):
        save_draft(studio, eve, draft.id, key="k", base_version=1, edits=[Edit(0, 0, "x")])
    with pytest.raises(NotAllowed):
        name_version(studio, eve, draft.id, 1, "x")


def test_whole_texts_are_kept_now_and_then(studio, table, draft, save):
    for number in range(SNAPSHOT_EVERY + 3):
        save(Edit(number, number, "x"))
    whole = select(versions.c.number).where(versions.c.text.is_not(None))
    with studio.read() as db:
        assert list(db.scalars(whole)) == [SNAPSHOT_EVERY]
    for number in (0, 1, SNAPSHOT_EVERY - 1, SNAPSHOT_EVERY, SNAPSHOT_EVERY + 1):
        assert read_version(studio, table.person, draft.id, number).text == "x" * number
    with pytest.raises(NotFound, match="no version 99"):
        read_version(studio, table.person, draft.id, 99)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_version_is_a_replay_of_the_log(studio, table, data):
    draft = begin_draft(studio, table, key=f"draft {next(_numbers)}")
    generated = "The ford rose. We ran 🌧 home."
    suggestion = put_suggestion(studio, draft, generated)
    states = [draft]
    for number in range(data.draw(st.integers(1, 6))):
        edits, length = [], len(states[-1].text)
        for _ in range(data.draw(st.integers(1, 4))):
            start = data.draw(st.integers(0, length))
            stop = data.draw(st.integers(start, length))
            inserted = data.draw(st.text("ab. \n🌧é", max_size=8))
            source, origin = "person", None
            if data.draw(st.booleans()):
                low = data.draw(st.integers(0, len(generated)))
                inserted = generated[low : low + data.draw(st.integers(0, 12))]
                source, origin = "machine", suggestion
            edits.append(Edit(start, stop, inserted, source, origin))
            length += len(inserted) - (stop - start)
        how = {"key": f"k{number}", "base_version": number, "edits": edits}
        states.append(save_draft(studio, table.person, draft.id, **how))
    frames = {f.version: f for f in replay(read_log(studio, table.person, draft.id))}
    for state in states[1:]:
        assert read_version(studio, table.person, draft.id, state.version) == state
        frame = frames[state.version]
        assert (frame.text, forget_edits(frame.marks)) == (state.text, state.marks)
        assert sum(run.length for run in state.marks) == len(state.text)


def test_of_those_who_save_at_once_one_wins_and_nothing_is_lost(studio, table, draft):
    """Eight writers each bring five words in, trying again on the version they are told."""
    refused = []

    def write(name):
        for number in range(5):
            version = 0
            while True:
                try:
                    save_draft(
                        studio, table.person, draft.id, key=f"{name}{number}",
                        base_version=version, edits=[Edit(0, 0, f"{name}{number} ")],
                    )  # fmt: skip
                    break
                except StaleVersion as stale:
                    refused.append(stale)
                    version = stale.version

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    final = read_draft(studio, table.person, draft.id)
    assert final.version == 40 and refused
    assert sorted(final.text.split()) == sorted(f"{n}{i}" for n in "abcdefgh" for i in range(5))
    assert [v.edits for v in list_versions(studio, table.person, draft.id)] == [1] * 40


def test_the_past_has_whole_versions_and_the_text_that_they_follow(studio, table, draft, save):
    assert read_past(studio, table.person, draft.id).edits == []
    save(Edit(0, 0, "One "), Edit(4, 4, "two "))
    save(Edit(8, 8, "three "))
    save(Edit(0, 4, ""), Edit(0, 0, "Uno "))
    past = read_past(studio, table.person, draft.id, most=4)
    assert (past.version, past.text, past.marks) == (1, "One two ", (Run(8, "person"),))
    assert [edit.inserted for edit in past.edits] == ["three ", "", "Uno "]
    assert [edit.removed for edit in past.edits] == ["", "One ", ""]
    assert read_past(studio, table.person, draft.id, most=5).text == ""


def test_the_past_has_the_last_version_however_long_it_is(studio, table, draft, save):
    save(Edit(0, 0, "a"))
    save(*[Edit(n, n, "b") for n in range(7)])
    past = read_past(studio, table.person, draft.id, most=3)
    assert (past.text, len(past.edits)) == ("a", 7)


def test_the_past_of_a_draft_is_not_for_others(studio, table, draft):
    with pytest.raises(NotFound):
        read_past(studio, put_person(studio, "ben"), draft.id)
