"""Edits that can be made, and those that are refused before anything is written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import InputError
from fabula.studio.edits import MOST_CHARACTERS, MOST_EDITS, Edit, apply_edits, check_edits

NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)


def test_each_edit_speaks_of_the_text_that_the_one_before_it_left():
    edits = [Edit(0, 0, "The ford rose."), Edit(9, 13, "fell"), Edit(0, 4)]
    assert list(apply_edits("", edits)) == ["The ford rose.", "The ford fell.", "ford fell."]


def test_positions_count_code_points():
    assert list(apply_edits("🌧🌧 é", [Edit(1, 2, "wind")])) == ["🌧wind é"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(0, 9, "x"), r"edits\[1\]: stop 9 is beyond the text of 3 characters"),
        (Edit(0, 0, "x" * (MOST_CHARACTERS - 2)), r"the draft would have 100,001 characters"),
    ],
)
def test_an_edit_beyond_its_text_is_refused(edit, message):
    with pytest.raises(InputError, match=message):
        list(apply_edits("", [Edit(0, 0, "abc"), edit]))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit(-1, 0, "x"), r"start -1 and stop 0 are no span"),
        (Edit(2, 1, "x"), r"start 2 and stop 1 are no span"),
        (Edit(0, 0, "a\0b"), r"edits\[1\]: inserted holds a sign that cannot be kept"),
        (Edit(0, 0, "\ud83d"), r"edits\[1\]: inserted holds a sign that cannot be kept"),
        (Edit(0, 0, "x" * (MOST_CHARACTERS + 1)), r"edits\[1\]: inserted has 100,001 characters"),
        (Edit(0, 0, "x", "ghost"), r"source is 'ghost'; give person or machine"),
        (Edit(0, 0, "x", "machine"), r"give the suggestion_id"),
        (Edit(0, 0, "x", "person", "s1"), r"it names a suggestion"),
        (Edit(0, 0, "x", made_at=datetime(2026, 1, 1)), r"has no time zone"),
        (
            Edit(0, 0, "x", made_at=datetime.min.replace(tzinfo=timezone(timedelta(hours=2)))),
            r"is no moment",
        ),
    ],
)
def test_an_edit_that_will_not_do_is_named(edit, message):
    with pytest.raises(InputError, match=message):
        check_edits([Edit(0, 0, "abc"), edit], NOW)


def test_too_many_edits_at_once_are_refused():
    with pytest.raises(InputError, match="5,001 edits are too many"):
        check_edits([Edit(0, 0, "x")] * (MOST_EDITS + 1), NOW)
    with pytest.raises(InputError, match="the edits are too long"):
        check_edits([Edit(0, 0, "x" * 90_000)] * 12, NOW)


def test_an_edit_is_dated_and_a_clock_that_runs_ahead_is_set_back():
    early = NOW - timedelta(days=3)
    given_moments = [None, early, NOW + timedelta(days=3)]
    checked = check_edits([Edit(0, 0, "x", made_at=moment) for moment in given_moments], NOW)
    assert [edit.made_at for edit in checked] == [NOW, early, NOW]


@given(st.text("abc", max_size=20), st.data())
def test_an_edit_can_be_undone_by_what_it_removed(text, data):
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    inserted = data.draw(st.text("xyz", max_size=5))
    [after] = apply_edits(text, [Edit(start, stop, inserted)])
    back = Edit(start, start + len(inserted), text[start:stop])
    assert list(apply_edits(after, [back])) == [text]
