"""A studio with something in every table: two authors, two machines, a game that they wrote."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from sqlalchemy import insert

from fabula.studio import tables
from fabula.studio.database import Studio
from fabula.studio.people import create_person, write_audit
from fabula.studio.sign_in import sign_in_oidc
from fabula.studio.tables import new_id
from fabula.studio.tokens import make_token

PASSWORD = "four odd words here"
BEGAN = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
ASPECTS = ("fluency", "relevance", "coherence", "likability")


def fill_studio(studio: Studio, suggestions: int = 4) -> SimpleNamespace:
    """Write the content; the people, and the identities of other things by their names."""
    ids = SimpleNamespace(
        ann=create_person(
            studio, None, name="ann", email="ann@example.org", display="Ann B.", password=PASSWORD
        ),
        bob=create_person(studio, None, name="bob", roles=("author", "annotator")),
        admin=create_person(studio, None, name="ada", roles=("admin",)),
        reader=create_person(studio, None, name="rea", roles=("researcher",)),
    )
    sign_in_oidc(studio, issuer="https://lab.example", subject="9", email=None, display="Guest")
    ids.token, ids.secret = make_token(studio, ids.ann, "my script", days=30)
    with studio.write() as db:
        _write_game(db, ids)
        _write_machines(db, ids)
        _write_drafts(db, ids)
        _write_campaign(db, ids)
        for number in range(suggestions):
            _write_suggestion(db, ids, number)
        write_audit(db, ids.ann, "publish_entry", ids.entries[0])
        _put(db, tables.jobs, kind="suggest", key="k", payload={"deep": [None, 1.5, "é"]})
        _put(db, tables.settings, name="colour", value={"of": "ink"})
        _put(db, tables.attempts, digest="d" * 64, failures=2, last_at=BEGAN)
    return ids


def _put(db, table, **row):
    if "id" in table.c and table.c.id.default is not None:
        row.setdefault("id", new_id())
    db.execute(insert(table).values(**row))
    return row.get("id")


def _write_game(db, ids):
    ids.game = _put(
        db, tables.games, pid="p1", owner_id=ids.ann.id, title="The salt road", created_at=BEGAN
    )
    for person, part in ((ids.ann, "narrator"), (ids.bob, "player")):
        _put(db, tables.members, game_id=ids.game, person_id=person.id, part=part)
    ids.character = _put(
        db, tables.characters, game_id=ids.game, seq_id=1, name="Ida", player_id=ids.bob.id
    )
    ids.scene = _put(db, tables.scenes, game_id=ids.game, number=1, title="Rain", extra={"a": 1})
    _put(db, tables.cards, game_id=ids.game, card_id="c1", namespace="obstacle", name="Flood")
    ids.entries = []
    for number, person in enumerate((ids.ann, ids.bob), 1):
        text = f"Entry {number}: the road lay white “as bone”.\n"
        row = {"scene_id": ids.scene, "format": "move", "author_id": person.id, "text": text}
        ids.entries.append(_put(db, tables.entries, game_id=ids.game, seq_id=number, **row))
    card = {"entry_id": ids.entries[0], "use": "place", "position": 0, "card_id": "c1"}
    _put(db, tables.entry_cards, **card, snapshot={"name": "Flood"})


def _write_machines(db, ids):
    ids.machines = [
        _put(db, tables.machines, name=name, spec="lorem", status="active")
        for name in ("lorem", "other")
    ]
    assigned = {"story": ids.game, "number": 1, "machine_id": ids.machines[0]}
    _put(db, tables.assignments, **assigned, reason="first", seed=7, turn=1, states=[])
    _put(db, tables.stories, id="5" * 32, pid="p2", story={"game_pid": "p2"}, status="ready")


def _write_drafts(db, ids):
    ids.drafts = []
    for person in (ids.ann, ids.bob):
        row = {"game_id": ids.game, "scene_id": ids.scene, "author_id": person.id, "key": "d"}
        draft = _put(db, tables.drafts, **row, format="move", text="Once it", version=2)
        ids.drafts.append(draft)
        for version, inserted in ((1, "Once"), (2, " it")):
            _put(db, tables.versions, draft_id=draft, number=version, key=f"k{version}")
            span = {"start": 0, "stop": 0, "removed": "", "inserted": inserted}
            edit = {"draft_id": draft, "version": version, "position": 0, "source": "person"}
            _put(db, tables.edits, **edit, **span, person_id=person.id)


def _write_campaign(db, ids):
    """A story with a picture, asked about and asked about again, rated and judged."""
    row = {"name": "tales", "owner_id": ids.reader.id, "definition": {"title": "Tales"}}
    own = {"campaign_id": _put(db, tables.campaigns, **row, digest="0" * 64, state="open")}
    picture = {"digest": "1" * 64, "media_type": "image/png", "width": 1, "height": 2}
    _put(db, tables.campaign_pictures, **own, **picture, data=bytes(range(256)))
    told = {"name": "a", "text": "Once “so”.\n", "pictures": ["1" * 64], "extra": {"input": None}}
    story = _put(db, tables.campaign_stories, **own, **told)
    # What comes again has the lesser identity: in order of identities it would come first.
    task = {"stories": [story], "systems": ["one"], "wanted": 3}
    _put(db, tables.campaign_tasks, id="f" * 32, **own, **task, number=1)
    again = {"id": "0" * 32, "kind": "duplicate", "original_id": "f" * 32}
    _put(db, tables.campaign_tasks, **again, **own, **task, number=2)
    door = _put(db, tables.campaign_doors, **own, way="code", code="come-in")
    rater = {"number": 1, "door_id": door, "external_id": "crowd-1", "digest": "2" * 64}
    rater_id = _put(db, tables.campaign_raters, **own, **rater)
    work = {"task_id": "f" * 32, "rater_id": rater_id, "number": 1, "shown": [story]}
    work |= {"state": "submitted", "answers": {"mood": {story: 4}}, "leased_until": BEGAN}
    done = _put(db, tables.campaign_assignments, **own, **work, submitted_at=BEGAN)
    verdict = {"assignment_id": done, "person_id": ids.reader.id, "verdict": "rejected"}
    _put(db, tables.campaign_verdicts, **verdict, reason="hurried", at=BEGAN)
    _put(db, tables.campaign_scores, **own, story_id=story, scorer="words", value=2.5)


def _write_suggestion(db, ids, number):
    person = (ids.ann, ids.bob)[number % 2]
    row = {
        "key": f"s{number}",
        "person_id": person.id,
        "game_id": ids.game,
        "draft_id": ids.drafts[number % 2],
        "entry_id": ids.entries[number % 2],
        "machine_id": ids.machines[number % 2],
        "context": {"story": "x", "segments": [{"name": "entry", "text": "Once it"}]},
        "generated": f"It rained for {number + 3} days. The road was gone.",
        "published": f"It rained for {number + 3} days.",
        "status": "done",
        "wanted": "words=0-249",
        "decoding": {"temperature": 0.9},
        "seed": number,
        "asked_at": BEGAN + timedelta(minutes=number),
        "ended_at": BEGAN + timedelta(minutes=number, seconds=2),
        "published_at": BEGAN + timedelta(hours=1),
    }
    suggestion = _put(db, tables.suggestions, **row)
    ids.suggestions = [*getattr(ids, "suggestions", []), suggestion]
    for place, aspect in enumerate(ASPECTS):
        rated = {"rater": person.id, "aspect": aspect, "value": 1 + (number + place) % 5}
        _put(db, tables.ratings, suggestion_id=suggestion, **rated, comment=f"note {number}")
    for aspect, value in (("precision", 0.5 + number / 10), ("recall", 1.0), ("f", 0.7)):
        scored = {"scorer": "user", "aspect": aspect, "value": value}
        _put(db, tables.scores, suggestion_id=suggestion, **scored, signature="user|v:1")
    _put(
        db, tables.scores, suggestion_id=suggestion, scorer="rouge(n=4)", aspect="f",
        status="undefined", coverage=0.0, note="too short", signature="rouge|v:1",
    )  # fmt: skip
