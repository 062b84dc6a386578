"""Who wrote which characters, by hand and against a character-by-character account."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.studio.authorship import (
    Run,
    forget_edits,
    locate_spans,
    mark_edit,
    parse_marks,
    plain_marks,
    replay,
    share_characters,
    share_words,
    split_sittings,
)
from fabula.studio.edits import Edit, LoggedEdit

START = datetime(2026, 5, 1, 9, tzinfo=UTC)


def write(*edits):
    """Text and marks after edits of an empty text."""
    text, marks = "", ()
    for edit in edits:
        marks = mark_edit(marks, text, edit)
        text = text[: edit.start] + edit.inserted + text[edit.stop :]
    return text, marks


def machine(start, stop, inserted, suggestion="s1"):
    return Edit(start, stop, inserted, "machine", suggestion)


def log_of(*edits, person="ann", every_s=1.0):
    """A log of edits, one version each, `every_s` seconds apart."""
    log, text = [], ""
    for number, edit in enumerate(edits):
        moment = START + timedelta(seconds=number * every_s)
        log.append(
            LoggedEdit(
                version=number + 1, position=0, person_id=person, start=edit.start, stop=edit.stop,
                removed=text[edit.start : edit.stop], inserted=edit.inserted, source=edit.source,
                suggestion_id=edit.suggestion_id, made_at=moment, saved_at=moment,
            )
        )  # fmt: skip
        text = text[: edit.start] + edit.inserted + text[edit.stop :]
    return log


def test_what_a_person_types_is_theirs():
    assert write(Edit(0, 0, "Rain."))[1] == (Run(5, "person"),)


def test_what_is_typed_on_joins_what_stands_before_it():
    assert write(Edit(0, 0, "Ra"), Edit(2, 2, "in"), Edit(0, 0, "A "))[1] == (Run(6, "person"),)


def test_a_suggestion_that_is_taken_over_is_the_machines():
    text, marks = write(Edit(0, 0, "Rain. "), machine(6, 6, "The ford rose."))
    assert text == "Rain. The ford rose."
    assert marks == (Run(6, "person"), Run(14, "machine", "s1"))


def test_a_word_put_in_place_of_the_machines_is_edited():
    # "rose" gives way to "fell": of "The ford rose." nine characters and the full stop stay.
    _, marks = write(machine(0, 0, "The ford rose."), Edit(9, 13, "fell"))
    assert marks == (Run(9, "machine", "s1"), Run(4, "edited", "s1"), Run(1, "machine", "s1"))


def test_what_is_put_back_as_it_was_keeps_its_author():
    # A client that sends a whole sentence for one word changes no more than that word.
    _, marks = write(machine(0, 0, "The ford rose."), Edit(0, 14, "The ford fell."))
    assert marks == (Run(9, "machine", "s1"), Run(4, "edited", "s1"), Run(1, "machine", "s1"))
    assert write(machine(0, 0, "The ford"), Edit(0, 8, "The ford"))[1] == (Run(8, "machine", "s1"),)


def test_words_inside_a_sentence_of_the_machine_are_edited():
    _, marks = write(machine(0, 0, "The ford rose."), Edit(8, 8, " slowly"))
    assert marks == (Run(8, "machine", "s1"), Run(7, "edited", "s1"), Run(6, "machine", "s1"))


def test_a_sentence_of_ones_own_between_two_of_the_machine_is_ones_own():
    text = "The ford rose. We ran."
    _, marks = write(machine(0, 0, text), Edit(15, 15, "I"), Edit(16, 16, " saw it. "))
    assert marks == (Run(15, "machine", "s1"), Run(10, "person"), Run(7, "machine", "s1"))


def test_what_is_written_between_two_suggestions_is_ones_own():
    _, marks = write(machine(0, 0, "rain"), machine(4, 4, "wind", "s2"), Edit(4, 4, " and "))
    assert marks == (Run(4, "machine", "s1"), Run(5, "person"), Run(4, "machine", "s2"))


def test_a_replacement_belongs_to_whom_most_of_what_gave_way_belonged():
    mine = write(Edit(0, 0, "abcdefgh"), machine(8, 8, "xy"), Edit(6, 10, "QQ"))[1]
    assert mine == (Run(6, "person"), Run(2, "edited", "s1"))
    mostly_own = write(Edit(0, 0, "abcdefgh"), machine(8, 8, "xy"), Edit(2, 10, "QQ"))[1]
    assert mostly_own == (Run(4, "person"),)


def test_deleting_takes_no_more_than_what_is_deleted():
    _, marks = write(Edit(0, 0, "ab"), machine(2, 2, "cd"), Edit(1, 3))
    assert marks == (Run(1, "person"), Run(1, "machine", "s1"))


def test_marks_come_back_from_plain_values():
    marks = (Run(3, "person"), Run(2, "machine", "s1"))
    assert plain_marks(marks) == [[3, "person", None], [2, "machine", "s1"]]
    assert parse_marks(plain_marks(marks)) == marks


def test_shares_of_characters_and_of_words():
    text, marks = write(Edit(0, 0, "Rain came. "), machine(11, 11, "The ford rose high."))
    # 11 of 30 characters and 2 of 6 words are a person's.
    assert share_characters(marks).person == pytest.approx(11 / 30)
    assert (share_words(text, marks).person, share_words(text, marks).n) == (2 / 6, 6)
    text, marks = write(machine(0, 0, "The ford rose high."), Edit(8, 8, "s"))
    # "fords" is of two origins: one edited word of four.
    assert text == "The fords rose high."
    assert share_words(text, marks).edited == 1 / 4


def test_no_text_has_no_shares():
    shares = share_characters(())
    assert all(map(math.isnan, (shares.person, shares.machine, shares.edited)))
    assert math.isnan(share_words("... ", (Run(4, "person"),)).person)


def test_spans_say_who_and_when():
    log = log_of(Edit(0, 0, "Rain. "), machine(6, 6, "Wind."), Edit(0, 1, "T"))
    spans = locate_spans(log)
    assert [(s.start, s.stop, s.origin, s.made_at) for s in spans] == [
        (0, 1, "person", log[2].made_at),
        (1, 6, "person", log[0].made_at),
        (6, 11, "machine", log[1].made_at),
    ]
    assert {span.person_id for span in spans} == {"ann"}


def test_a_film_has_a_frame_for_each_moment():
    log = log_of(Edit(0, 0, "Rain"), Edit(4, 4, "."), machine(5, 5, " Wind."))
    frames = list(replay(log))
    assert [frame.text for frame in frames] == ["Rain", "Rain.", "Rain. Wind."]
    assert [frame.moment for frame in frames] == [edit.made_at for edit in log]
    assert forget_edits(frames[-1].marks) == (Run(5, "person"), Run(6, "machine", "s1"))


def test_a_pause_of_half_an_hour_ends_a_sitting():
    edits = [Edit(0, 0, "ab"), machine(2, 2, "cde"), Edit(0, 1)]
    [whole] = split_sittings(log_of(*edits, every_s=1800))
    assert (whole.edits, whole.written, whole.accepted, whole.removed) == (3, 2, 3, 1)
    assert [sitting.edits for sitting in split_sittings(log_of(*edits, every_s=1801))] == [1, 1, 1]


@st.composite
def histories(draw):
    """Edits that follow each other, by a person and by two suggestions."""
    edits, length = [], 0
    for _ in range(draw(st.integers(1, 12))):
        start = draw(st.integers(0, length))
        stop = draw(st.integers(start, length))
        inserted = draw(st.text("ab. \n🌧é", max_size=6))
        source = draw(st.sampled_from(["person", "machine"]))
        suggestion = draw(st.sampled_from(["s1", "s2"])) if source == "machine" else None
        edits.append(Edit(start, stop, inserted, source, suggestion))
        length += len(inserted) - (stop - start)
    return edits


@given(histories())
def test_every_character_has_exactly_one_origin(edits):
    text, marks = write(*edits)
    assert sum(run.length for run in marks) == len(text)
    assert all(run.length > 0 for run in marks)
    assert all(one[1:] != other[1:] for one, other in pairwise(marks))
    assert all((run.origin == "person") == (run.suggestion_id is None) for run in marks)
    for shares in (share_characters(marks), share_words(text, marks)):
        total = shares.person + shares.machine + shares.edited
        assert math.isnan(total) if not shares.n else math.isclose(total, 1)


@given(histories())
def test_what_the_machine_is_said_to_have_written_it_wrote(edits):
    """No character is a suggestion's that is in nothing which was put in as that suggestion's."""
    text, marks = write(*edits)
    at = 0
    for run in marks:
        part = text[at : at + run.length]
        at += run.length
        if run.origin == "machine":
            pool = [e.inserted for e in edits if e.suggestion_id == run.suggestion_id]
            assert set(part) <= set("".join(pool))


@given(histories())
def test_a_film_ends_with_the_text_and_its_marks(edits):
    text, marks = write(*edits)
    last = list(replay(log_of(*edits)))[-1]
    assert (last.text, forget_edits(last.marks)) == (text, marks)
    spans = locate_spans(log_of(*edits))
    assert [span.stop - span.start for span in spans] == [run.length for run in last.marks]


def test_marks_of_thousands_of_runs_are_changed_soon():
    text = "ab" * 5_000
    marks = tuple(Run(1, "person") if n % 2 else Run(1, "machine", "s1") for n in range(10_000))
    for at in range(0, 10_000, 50):
        marks = mark_edit(marks, text, Edit(at, at + 1, "c"))
        text = text[:at] + "c" + text[at + 1 :]
    assert sum(run.length for run in marks) == 10_000
    assert sum(run.length for run in marks if run.origin == "edited") == 200
