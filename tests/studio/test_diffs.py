"""Suggestions and what was made of them: side by side, in lists, and for the public."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import InputError, NotFound
from fabula.studio.diffs import (
    MOST_PUBLIC,
    DiffBlock,
    diff_suggestion,
    list_edits,
    stream_edits,
)
from fabula.studio.filters import Filter
from fabula.studio.games import exclude_game
from fabula.studio.people import Person
from fabula.studio.quality import read_opinions
from fakes.many_suggestions import add_many


def test_a_diff_shows_what_was_kept_and_what_came_and_went():
    diff = diff_suggestion("The grey ferry crossed at dawn.", "The blue ferry crossed, slowly.")
    assert diff == [
        DiffBlock("neutral", "The "),
        DiffBlock("deleted", "grey "),
        DiffBlock("added", "blue "),
        DiffBlock("kept", "ferry crossed, "),
        DiffBlock("deleted", "at dawn."),
        DiffBlock("added", "slowly."),
    ]


@pytest.mark.parametrize(
    ("generated", "published", "kinds"),
    [
        ("", "", []),
        ("", "Snow", ["added"]),
        ("Snow", "", ["deleted"]),
        ("…", "!", ["deleted", "added"]),
    ],
)
def test_a_diff_of_nothing_shows_what_there_is(generated, published, kinds):
    assert [block.kind for block in diff_suggestion(generated, published)] == kinds


_TEXTS = st.lists(st.sampled_from(["The", "grey", "ferry", "é", ",", "\n", "日本"])).map(" ".join)


@given(_TEXTS, _TEXTS)
def test_a_diff_holds_the_whole_of_both_texts(generated, published):
    diff = diff_suggestion(generated, published)
    assert "".join(block.text for block in diff if block.kind != "deleted") == published
    suggested = " ".join(block.text for block in diff if block.kind != "added")
    words = [word for word in suggested.lower().split() if word != ","]
    assert words == [word for word in generated.lower().split() if word != ","]


def test_edits_are_listed_newest_first_and_by_pages(studio):
    many = add_many(studio, 23, games_of=5)
    eve = many.researcher
    first = list_edits(studio, eve)
    assert (first.total, first.offset, len(first.edits)) == (23, 0, 10)
    last = list_edits(studio, eve, offset=20)
    assert (last.total, last.offset, len(last.edits)) == (23, 20, 3)
    newest = list(reversed(read_opinions(studio, eve).suggestions))
    pages = [list_edits(studio, eve, offset=offset).edits for offset in (0, 10, 20)]
    listed = [edit for page in pages for edit in page]
    assert [edit.suggestion for edit in listed] == newest
    assert list(stream_edits(studio, eve)) == listed
    assert list_edits(studio, eve, offset=50).edits == ()
    edit = listed[-1]
    assert (edit.title, edit.game) == ("The salt road, part 1", many.games[0])
    shown = "".join(block.text for block in edit.blocks if block.kind != "deleted")
    assert shown == edit.published
    for offset, limit in ((-1, 10), (0, 0), (0, 201)):
        with pytest.raises(InputError, match="offset is"):
            list_edits(studio, eve, offset=offset, limit=limit)


def test_an_edit_has_the_qualities_that_opinions_have(studio):
    many = add_many(studio, 12, games_of=3)
    for measure in ("precision", "recall"):
        chosen = Filter(measure=measure)
        opinions = read_opinions(studio, many.researcher, chosen)
        rows = dict(zip(opinions.suggestions, opinions.values.tolist(), strict=True))
        for edit in list_edits(studio, many.researcher, chosen, limit=200).edits:
            known = {
                label: value
                for label, value in zip(opinions.labels, rows[edit.suggestion], strict=True)
                if value == value
            }
            assert edit.qualities == pytest.approx(known)
            assert list(edit.qualities) == list(known)
    comments = {each for edit in stream_edits(studio, many.researcher) for each in edit.comments}
    assert comments == {"It knew the ferry."}


def test_the_public_sees_ten_edits_and_nobody(studio):
    many = add_many(studio, 15, games_of=5)
    page = list_edits(studio, None, limit=200)
    assert page.total == len(page.edits) == MOST_PUBLIC
    assert {(edit.game, edit.title, edit.comments) for edit in page.edits} == {("", "", ())}
    assert len(list_edits(studio, None, offset=8).edits) == 2
    assert list_edits(studio, None, offset=10).edits == ()
    # A scope opens all of them, a role of another kind does not.
    guest = Person("", "guest", scopes=frozenset({"user_edits"}))
    assert list_edits(studio, guest).total == 15
    with pytest.raises(NotFound):
        list_edits(studio, many.people[0])
    with pytest.raises(NotFound):
        stream_edits(studio, many.people[0])
    exclude_game(studio, many.researcher, many.games[0])
    exclude_game(studio, many.researcher, many.games[1])
    assert list_edits(studio, None).total == 5
