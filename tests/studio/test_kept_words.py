"""Parts of speech and names: counted apart from publishing, stored once, read with intervals."""

from __future__ import annotations

import math
import threading
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select, update

from fabula.core.errors import NotAllowed, PackageMissing
from fabula.studio import kept_words, worker
from fabula.studio.cards import add_card
from fabula.studio.edits import Edit
from fabula.studio.export import export_studio
from fabula.studio.filters import Filter
from fabula.studio.jobs import cancel_job
from fabula.studio.kept import KEPT_WORDS
from fabula.studio.kept_words import read_kept_words, read_waiting
from fabula.studio.machine_runner import Pace
from fabula.studio.publishing import publish_entry
from fabula.studio.storium_door import PLATFORM, ask_for_story, upload_story
from fabula.studio.tables import now, scores, stories, suggestions
from fabula.studio.versions import save_draft
from fakes.capital_tagger import tag_capitals
from fakes.many_suggestions import add_many
from fakes.storium_games import SMALL, entry
from fakes.studio_people import put_person
from fakes.studio_writing import begin_draft, lay_table, put_suggestion
from fakes.suggestion_rows import ask, offer

GENERATED = "Then Mara saw Hale beside Brindle harbour. Tobin rowed."
PUBLISHED = "Then Mara saw Hale. Slowly Brindle burned while Tobin rowed."


@pytest.fixture
def tagger(monkeypatch):
    monkeypatch.setattr(kept_words, "tag_text", tag_capitals)
    monkeypatch.setattr(kept_words, "tagger_trait", lambda tags: "capitals")


def publish(studio, table, key, *, generated=GENERATED, text=PUBLISHED, before=""):
    draft = begin_draft(studio, table, key)
    suggestion = put_suggestion(studio, draft, generated, context={"text": before})
    save_draft(studio, table.person, draft.id, key="k", base_version=0, edits=[Edit(0, 0, text)])
    publish_entry(studio, table.person, draft.id, version=1)
    return suggestion


def read_counts(studio, suggestion):
    is_it = (scores.c.suggestion_id == suggestion) & (scores.c.scorer == KEPT_WORDS)
    columns = (scores.c.aspect, scores.c.value, scores.c.status, scores.c.signature)
    with studio.read() as db:
        rows = db.execute(select(*columns).where(is_it)).all()
    return {row.aspect: row.value for row in rows}, {(row.status, row.signature) for row in rows}


def test_words_and_names_are_counted_once_after_publishing(studio, tagger, tmp_path):
    table, eve = lay_table(studio), put_person(studio, "eve", "researcher")
    add_card(studio, table.person, table.game_id, key="c", namespace="place", name="Old Brindle")
    # What is published later is not known yet.
    suggestion = publish(studio, table, "a", before="Once Hale slept.")
    later = publish(studio, table, "b", generated="So Tobin sang.", text="So Tobin sang.")
    assert read_counts(studio, suggestion) == ({}, set())
    waiting = read_kept_words(studio, eve).machines["lorem"]
    assert (waiting.suggestions, waiting.waiting, waiting.tags) == (0, 2, ())
    assert read_waiting(studio) == 2
    counts, quoted = read_counts(studio, suggestion)
    # Kept: Then Mara saw Hale, Brindle, Tobin rowed. Hale stood before the cursor, Brindle on a
    # card; Mara and Tobin are new, as the entry that is published here is not known.
    assert counts == {
        "generated:NOUN": 5, "generated:PROPN": 4, "kept:NOUN": 3, "kept:PROPN": 4,
        "entities:known": 2, "entities:new": 2,
    }  # fmt: skip
    assert quoted == {("ok", "kept_words|tagger:capitals|rev:1")}
    # Tobin stands in the entry before.
    assert read_counts(studio, later)[0]["entities:known"] == 1
    assert read_waiting(studio) == 0
    # Counts are in the rows of an export, and no opinions in its table.
    export_studio(studio, None, tmp_path / "out")
    assert KEPT_WORDS in (tmp_path / "out" / "metric_scores.json").read_text(encoding="utf-8")
    assert KEPT_WORDS not in (tmp_path / "out" / "scores.jsonl").read_text(encoding="utf-8")


def test_who_is_stopped_goes_on_and_two_at_once_store_once(studio, tagger, monkeypatch):
    table = lay_table(studio)
    made = [publish(studio, table, f"d{place}") for place in range(3)]
    assert read_waiting(studio, most=2) == 2
    assert read_waiting(studio, within_s=-1.0) == 1

    def meanwhile(text):
        # Another worker reads the same suggestion while this one does.
        monkeypatch.setattr(kept_words, "tag_text", tag_capitals)
        assert read_waiting(studio) == 1
        return tag_capitals(text)

    last = publish(studio, table, "last")
    monkeypatch.setattr(kept_words, "tag_text", meanwhile)
    assert read_waiting(studio) == 1
    assert all(len(read_counts(studio, each)[0]) == 6 for each in (*made, last))


def test_what_is_too_long_is_missing_and_not_zero(studio, tagger):
    table, eve = lay_table(studio), put_person(studio, "eve", "researcher")
    long = publish(studio, table, "a", generated="Snow " * 300, text="Snow.")
    assert read_waiting(studio) == 1 and read_waiting(studio) == 0
    counts, quoted = read_counts(studio, long)
    assert counts == {"entities:known": None, "entities:new": None}
    assert {status for status, _ in quoted} == {"too_long"}
    found = read_kept_words(studio, eve).machines["lorem"]
    assert (found.suggestions, found.unread, found.tags, found.names) == (0, 1, (), 0)
    assert math.isnan(found.known.value)


def test_without_a_tagger_nothing_is_stored_and_the_reason_is_told(studio, monkeypatch):
    def fail(tags):
        raise PackageMissing("spacy", "nlp")

    monkeypatch.setattr(kept_words, "tagger_trait", fail)
    table, eve = lay_table(studio), put_person(studio, "eve", "researcher")
    suggestion = publish(studio, table, "a")
    assert read_waiting(studio) == 0
    assert read_counts(studio, suggestion)[0] == {}
    report = read_kept_words(studio, eve)
    assert report.problem.startswith("spacy is not installed; run: ")
    assert report.machines["lorem"].waiting == 1
    monkeypatch.setattr(kept_words, "tag_text", tag_capitals)
    monkeypatch.setattr(kept_words, "tagger_trait", lambda tags: "capitals")
    assert read_waiting(studio) == 1 and read_kept_words(studio, eve).problem == ""


def test_shares_are_read_by_machine_with_intervals_by_game(studio):
    many = add_many(studio, 60, games_of=5)
    report = read_kept_words(studio, many.researcher)
    assert report.machines.keys() == {"topk", "nucleus"} and report.problem == ""
    found = report.machines["topk"]
    assert (found.suggestions, found.waiting, found.unread) == (30, 0, 0)
    columns = select(scores.c.aspect, func.sum(scores.c.value)).group_by(scores.c.aspect)
    ours = columns.where(scores.c.suggestion_id.in_(_list_ids(studio, "topk", many)))
    with studio.read() as db:
        sums = dict(db.execute(ours.where(scores.c.scorer == KEPT_WORDS)).all())
    everything = {
        side: sum(value for aspect, value in sums.items() if aspect.startswith(side))
        for side in ("generated:", "kept:")
    }
    for row in found.tags:
        made, kept = sums[f"generated:{row.tag}"], sums[f"kept:{row.tag}"]
        assert (row.generated, row.kept) == (made, kept)
        assert row.of_generated.value == pytest.approx(made / everything["generated:"])
        assert row.of_kept.value == pytest.approx(kept / everything["kept:"])
        assert row.rate.value == pytest.approx(kept / made)
        assert row.rate.low < row.rate.value < row.rate.high
    known, new = sums["entities:known"], sums["entities:new"]
    assert found.known.value == pytest.approx(known / (known + new))
    assert found.names == known + new
    few = read_kept_words(studio, None, Filter(game=many.games[0])).machines["topk"]
    assert few.suggestions == 5 and math.isnan(few.tags[0].rate.low)
    with pytest.raises(NotAllowed):
        read_kept_words(studio, many.people[0])


def _list_ids(studio, machine, many):
    from fabula.studio.quality import read_opinions

    return list(read_opinions(studio, many.researcher, Filter(machines=(machine,))).suggestions)


def test_names_of_an_uploaded_story_are_known(studio, tagger):
    offer(studio)
    story_id = upload_story(studio, PLATFORM, SMALL).id
    with studio.write() as db:
        db.execute(update(stories).values(status="ready"))
    asked = ask_for_story(studio, PLATFORM, story_id, entry(9, None)).id
    text = "Then Ida met Quill."
    ended = {"status": "done", "generated": text, "published": text, "published_at": now()}
    with studio.write() as db:
        db.execute(update(suggestions).values(ended))
    assert read_waiting(studio) == 1
    counts, _ = read_counts(studio, asked)
    assert (counts["entities:known"], counts["entities:new"]) == (1, 1)


def test_a_worker_counts_when_nothing_waits_and_outlives_a_tagger_that_fails(
    studio, tagger, monkeypatch
):
    table, eve = lay_table(studio), put_person(studio, "eve", "researcher")
    suggestion = publish(studio, table, "a")
    supervisor = worker._Supervisor(studio, (), Pace())
    machine = offer(studio, "busy")
    supervisor.runners[machine] = SimpleNamespace(stopping=threading.Event(), is_alive=lambda: True)
    waiting = ask(studio, machine)
    assert supervisor._has_work()
    supervisor._look_round()
    assert read_counts(studio, suggestion)[0] == {}
    with studio.write() as db:
        cancel_job(db, "suggest", waiting)
    assert not supervisor._has_work()
    supervisor._look_round()
    assert len(read_counts(studio, suggestion)[0]) == 6

    def fail(text):
        raise RuntimeError("out of its depth")

    monkeypatch.setattr(kept_words, "tag_text", fail)
    supervisor.runners.clear()
    other = publish(studio, table, "b")
    supervisor._look_round()
    assert supervisor._read_at == math.inf and read_counts(studio, other)[0] == {}
    assert read_kept_words(studio, eve).problem.startswith("the tagger failed")
    supervisor._look_round()
