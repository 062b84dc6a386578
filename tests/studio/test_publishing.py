"""Publishing: all of it once, whoever asks how often."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import func, select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio import publishing
from fabula.studio.cards import add_card
from fabula.studio.drafts import discard_draft, read_draft
from fabula.studio.edits import Edit
from fabula.studio.games import archive_game
from fabula.studio.kept import kept_metrics, score_suggestion
from fabula.studio.publishing import publish_entry
from fabula.studio.scenes import list_entries
from fabula.studio.suggestions import read_suggestion
from fabula.studio.tables import entries, jobs, scores
from fabula.studio.versions import StaleVersion, save_draft
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_suggestion

USED = "The grey ferry crossed at dawn."
UNUSED = "A red kite fell."


@pytest.fixture
def table(studio):
    return lay_table(studio)


def write(studio, table, draft, *edits):
    return save_draft(
        studio, table.person, draft.id, key=f"k{draft.version}", base_version=draft.version,
        edits=edits,
    )  # fmt: skip


def count_rows(studio, table):
    with studio.read() as db:
        return db.scalar(select(func.count()).select_from(table))


def test_publishing_writes_the_entry_and_scores_what_was_suggested(studio, table):
    draft = begin_draft(studio, table)
    used, unused = put_suggestion(studio, draft, USED), put_suggestion(studio, draft, UNUSED)
    failed = put_suggestion(studio, draft, "", status="failed")
    draft = write(studio, table, draft, Edit(0, 0, USED, "machine", used), Edit(31, 31, " Snow."))
    published = publish_entry(studio, table.person, draft.id, version=1)
    [entry], _ = list_entries(studio, table.person, table.game_id)
    assert (entry.id, entry.seq_id, entry.text) == (published.entry_id, 1, USED + " Snow.")
    assert entry.published_at == published.published_at
    assert read_draft(studio, table.person, draft.id).state == "published"
    by_label = {(s.story, s.label): s.value for s in published.scores}
    # Six words of six kept, of seven published; nothing of the other one.
    assert by_label[used, "user.precision"] == 1
    assert by_label[used, "user.recall"] == 6 / 7
    assert by_label[used, "kept.marked"] == 1
    assert by_label[unused, "user.precision"] == by_label[unused, "kept.marked"] == 0
    expected = score_suggestion(USED, entry.text, story=used, marks=draft.marks)
    assert [s for s in published.scores if s.story == used] == expected
    for suggestion in (used, unused, failed):
        final = read_suggestion(studio, table.person, suggestion)
        assert (final.published, final.entry_id) == (entry.text, entry.id)
    assert not [score for score in published.scores if score.story == failed]


def test_scores_are_stored_with_their_signature_and_missing_ones_as_nothing(studio, table):
    draft = begin_draft(studio, table)
    put_suggestion(studio, draft, "...")
    publish_entry(
        studio, table.person, write(studio, table, draft, Edit(0, 0, "Snow.")).id, version=1
    )
    with studio.read() as db:
        rows = db.execute(select(scores).where(scores.c.scorer == "user")).all()
    assert {(row.value, row.status, row.coverage) for row in rows} == {(None, "undefined", 0.0)}
    assert {row.signature for row in rows} == {kept_metrics()[0].signature()}


def test_publishing_twice_gives_the_first_result(studio, table):
    draft = begin_draft(studio, table)
    put_suggestion(studio, draft, USED)
    write(studio, table, draft, Edit(0, 0, "Snow fell on the grey ferry."))
    first = publish_entry(studio, table.person, draft.id, version=1)
    again = publish_entry(studio, table.person, draft.id, version=1)
    assert repr(again) == repr(first)
    assert publish_entry(studio, table.person, draft.id, version=7) == again
    assert count_rows(studio, entries) == 1


def test_those_who_publish_at_once_publish_once(studio, table):
    drafts = []
    for number in range(3):
        draft = begin_draft(studio, table, f"d{number}")
        put_suggestion(studio, draft, USED)
        drafts.append(write(studio, table, draft, Edit(0, 0, f"Snow {number}.")))
    results = []

    def publish(draft):
        results.append(publish_entry(studio, table.person, draft.id, version=1))

    threads = [threading.Thread(target=publish, args=(draft,)) for draft in drafts * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 9
    assert len({result.entry_id for result in results}) == 3
    assert sorted({result.seq_id for result in results}) == [1, 2, 3]


def test_only_the_last_version_is_published(studio, table):
    draft = begin_draft(studio, table)
    with pytest.raises(InputError, match="the draft has no text"):
        publish_entry(studio, table.person, draft.id, version=0)
    write(studio, table, write(studio, table, draft, Edit(0, 0, "Snow")), Edit(4, 4, "."))
    with pytest.raises(StaleVersion, match="at version 2, not 1"):
        publish_entry(studio, table.person, draft.id, version=1)
    assert count_rows(studio, entries) == 0


def test_what_is_still_being_suggested_is_cancelled(studio, table):
    draft = begin_draft(studio, table)
    waiting = put_suggestion(studio, draft, "The grey fer", status="executing")
    write(studio, table, draft, Edit(0, 0, "Snow."))
    published = publish_entry(studio, table.person, draft.id, version=1)
    suggestion = read_suggestion(studio, table.person, waiting)
    assert (suggestion.status, suggestion.published) == ("cancelled", "Snow.")
    # What had been written by then was seen, and counts.
    assert {score.story for score in published.scores} == {waiting}
    assert count_rows(studio, jobs) == 0


def test_a_suggestion_that_comes_in_between_is_scored_too(studio, table, monkeypatch):
    draft = begin_draft(studio, table)
    late = []
    score = publishing.score_asked

    def score_slowly(*arguments):
        if not late:
            late.append(put_suggestion(studio, draft, USED))
        return score(*arguments)

    monkeypatch.setattr(publishing, "score_asked", score_slowly)
    write(studio, table, draft, Edit(0, 0, USED))
    published = publish_entry(studio, table.person, draft.id, version=1)
    assert {score.story for score in published.scores} == set(late)


def test_what_fails_leaves_nothing_behind(studio, table, monkeypatch):
    draft = begin_draft(studio, table)
    put_suggestion(studio, draft, USED)
    write(studio, table, draft, Edit(0, 0, "Snow."))
    monkeypatch.setattr(publishing, "write_scores", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        publish_entry(studio, table.person, draft.id, version=1)
    assert count_rows(studio, entries) == count_rows(studio, scores) == 0
    assert read_draft(studio, table.person, draft.id).state == "open"


def test_cards_lie_on_the_table_as_they_were(studio, table):
    add_card(studio, table.person, table.game_id, key="dunes", namespace="place", name="The dunes")
    draft = begin_draft(studio, table, format="establishment", cards={"place": ["dunes"]})
    write(studio, table, draft, Edit(0, 0, "Salt."))
    publish_entry(studio, table.person, draft.id, version=1)
    [entry], _ = list_entries(studio, table.person, table.game_id)
    [card] = entry.cards
    assert (entry.format, card.use, card.snapshot["name"]) == (
        "establishment",
        "place",
        "The dunes",
    )


def test_who_may_not_publish_does_not(studio, table):
    draft = begin_draft(studio, table)
    write(studio, table, draft, Edit(0, 0, "Snow."))
    with pytest.raises(NotFound):
        publish_entry(studio, put_person(studio, "bob"), draft.id, version=1)
    with pytest.raises(NotAllowed):
        publish_entry(studio, put_person(studio, "eve", "researcher"), draft.id, version=1)
    archive_game(studio, table.person, table.game_id)
    with pytest.raises(Conflict, match="archived"):
        publish_entry(studio, table.person, draft.id, version=1)
    discard_draft(studio, table.person, draft.id)
    with pytest.raises(Conflict, match="discarded"):
        publish_entry(studio, table.person, draft.id, version=1)
    assert count_rows(studio, entries) == 0
