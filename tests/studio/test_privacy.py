"""Everything of a person's for them, and nothing left when they go."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio import tables
from fabula.studio.people import create_person, find_person, list_people
from fabula.studio.privacy import delete_person, export_person
from fabula.studio.sign_in import find_session, sign_in
from fabula.studio.tables import METADATA
from fabula.studio.tokens import find_token
from fakes.studio_content import ASPECTS, PASSWORD, fill_studio


@pytest.fixture
def filled(studio):
    return fill_studio(studio)


def rows(studio, name):
    table = METADATA.tables[name]
    with studio.read() as db:
        ordered = select(table).order_by(*table.primary_key.columns)
        return [dict(row) for row in db.execute(ordered).mappings()]


def everything(studio):
    """All that the database holds, as one text."""
    return json.dumps({name: rows(studio, name) for name in METADATA.tables}, default=str)


def test_a_person_gets_all_that_is_theirs(studio, filled):
    sign_in(studio, "ann", PASSWORD)
    given = export_person(studio, filled.ann, filled.ann.id)
    assert json.loads(json.dumps(given)) == given
    assert given["profile"]["email"] == "ann@example.org"
    assert given["profile"]["roles"] == ["author"]
    assert [game["title"] for game in given["games"]] == ["The salt road"]
    assert [entry["id"] for entry in given["entries"]] == filled.entries[:1]
    [draft] = given["drafts"]
    assert [edit["inserted"] for edit in draft["edits"]] == ["Once", " it"]
    assert len(draft["versions"]) == 2
    assert {one["id"] for one in given["suggestions"]} == {*filled.suggestions[::2]}
    assert len(given["ratings"]) == 2 * len(ASPECTS)
    assert [token["name"] for token in given["tokens"]] == ["my script"]
    assert {line["action"] for line in given["audit"]} == {
        "create_person", "make_token", "publish_entry", "sign_in",
    }  # fmt: skip


def test_what_a_person_gets_holds_no_secret_and_nobody_else(studio, filled):
    session = sign_in(studio, "ann", PASSWORD)
    text = json.dumps(export_person(studio, filled.ann, filled.ann.id))
    for secret in ("$argon2", filled.secret, session.csrf, "digest"):
        assert secret not in text
    assert filled.drafts[1] not in text and "Entry 2" not in text


def test_only_oneself_and_admins_may(studio, filled):
    for act in (export_person, delete_person):
        with pytest.raises(NotAllowed):
            act(studio, filled.bob, filled.ann.id)
        with pytest.raises(NotFound):
            act(studio, filled.admin, "nobody")
    assert export_person(studio, filled.admin, filled.bob.id)["profile"]["name"] == "bob"
    assert len(list_people(studio, None)) == 5


def test_nothing_says_who_somebody_was_who_has_gone(studio, filled):
    session = sign_in(studio, "ann", PASSWORD)
    delete_person(studio, filled.ann, filled.ann.id)
    text = everything(studio)
    assert "ann@example.org" not in text and "Ann B." not in text and '"ann"' not in text
    assert (
        find_session(studio, session.secret) is None and find_token(studio, filled.secret) is None
    )
    with pytest.raises(NotAllowed):
        sign_in(studio, "ann", PASSWORD)
    with pytest.raises(NotFound):
        find_person(studio, "ann")
    assert create_person(studio, None, name="ann", email="ann@example.org").id != filled.ann.id
    for name in ("sessions", "tokens", "roles", "members"):
        assert filled.ann.id not in {row["person_id"] for row in rows(studio, name)}


def test_drafts_go_with_their_logs_and_those_of_others_stay(studio, filled):
    delete_person(studio, filled.ann, filled.ann.id)
    assert [row["id"] for row in rows(studio, "drafts")] == filled.drafts[1:]
    assert {row["draft_id"] for row in rows(studio, "edits")} == {filled.drafts[1]}
    assert len(rows(studio, "edits")) == len(rows(studio, "versions")) == 2
    assert [row["draft_id"] for row in rows(studio, "erasures")] == filled.drafts[:1]


def test_ratings_stay_under_one_rater_whom_nobody_knows(studio, filled):
    before = {row["id"]: row for row in rows(studio, "ratings")}
    delete_person(studio, filled.ann, filled.ann.id)
    after = {row["id"]: row for row in rows(studio, "ratings")}
    assert {key: row["value"] for key, row in before.items()} == {
        key: row["value"] for key, row in after.items()
    }
    raters = {row["rater"] for row in after.values()}
    [unknown] = raters - {filled.bob.id}
    assert unknown.startswith("anonymous-") and filled.ann.id not in unknown
    assert len([row for row in after.values() if row["rater"] == unknown]) == 2 * len(ASPECTS)


def test_what_was_published_stays_without_an_author(studio, filled):
    texts = [row["text"] for row in rows(studio, "entries")]
    delete_person(studio, filled.ann, filled.ann.id)
    kept = rows(studio, "entries")
    assert [row["text"] for row in kept] == texts
    assert {row["author_id"] for row in kept} == {None, filled.bob.id}
    suggestions = {row["id"]: row for row in rows(studio, "suggestions")}
    assert suggestions.keys() == {*filled.suggestions}
    assert suggestions[filled.suggestions[0]]["published"] == "It rained for 3 days."
    assert suggestions[filled.suggestions[0]]["person_id"] is None


def test_what_was_published_is_emptied_when_the_person_asks(studio, filled):
    scores = rows(studio, "scores")
    delete_person(studio, filled.ann, filled.ann.id, entries="empty")
    mine, other = sorted(rows(studio, "entries"), key=lambda row: row["seq_id"])
    assert (mine["text"], mine["author_id"]) == ("", None) and "Entry 2" in other["text"]
    text = everything(studio)
    assert 'It rained for 3 days."' not in text and "note 0" not in text and "note 1" in text
    assert rows(studio, "scores") == scores


def test_suggestions_that_led_to_nothing_go_and_rated_ones_forget_the_draft(studio, filled):
    with studio.write() as db:
        mine = tables.suggestions.c.id.in_(filled.suggestions[::2])
        nothing = {"published": None, "entry_id": None, "status": "pending"}
        db.execute(update(tables.suggestions).where(mine).values(nothing))
        rated = tables.ratings.c.suggestion_id == filled.suggestions[0]
        db.execute(tables.ratings.delete().where(rated))
    delete_person(studio, filled.ann, filled.ann.id)
    kept = {row["id"]: row for row in rows(studio, "suggestions")}
    assert kept.keys() == {*filled.suggestions[1:]}
    assert kept[filled.suggestions[2]]["context"] == {}
    assert kept[filled.suggestions[2]]["status"] == "cancelled"
    assert kept[filled.suggestions[1]]["context"] != {}


def test_the_log_says_that_somebody_left_and_no_more(studio, filled):
    delete_person(studio, filled.ann, filled.ann.id)
    delete_person(studio, filled.admin, filled.ann.id)
    left = [row for row in rows(studio, "audit") if row["action"] == "delete_person"]
    assert [(row["person_id"], row["object"]) for row in left] == [(filled.ann.id, filled.ann.id)]
    assert [row["object"] for row in rows(studio, "audit")].count(filled.entries[0]) == 1


def test_the_last_admin_cannot_leave_and_entries_are_kept_or_emptied(studio, filled):
    with pytest.raises(Conflict, match="last admin"):
        delete_person(studio, filled.admin, filled.admin.id)
    with pytest.raises(InputError):
        delete_person(studio, filled.ann, filled.ann.id, entries="burn")
    assert find_person(studio, "ada") == filled.admin
