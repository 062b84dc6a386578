"""Every route of the app, asked by everyone: who is answered what.

The table is held against the routes themselves: a route without a row fails, and so does a row
without a route.
"""

from __future__ import annotations

import shutil

import httpx
import pytest

from fabula.studio.database import open_studio
from fabula.web.app import ROUTERS
from fabula.web.identity import Web
from fakes.event_loop import run_coroutine
from fakes.storium_games import SMALL, entry
from web.conftest import HOME, PASSWORD, QUICK

WHO = ("nobody", "ann", "ben", "cat", "dan", "eve")
A = "/api/v1"
G = f"{A}/games/{{game_id}}"
D = f"{A}/drafts/{{draft_id}}"
S = f"{A}/suggestions/{{suggestion_id}}"
C = f"{A}/campaigns"
# Raters show a cookie of their campaign, and nobody here has one.
R = f"{A}/rating"
# STORIUM's door; to who was not named a backend there is nothing.
T = "/api/storium"

# nobody, the author whose things they are, another author, annotator, researcher, admin
TABLE = {
    f"POST {A}/sign-in": "200 200 200 200 200 200",
    f"POST {A}/sign-out": "401 204 204 204 204 204",
    f"POST {A}/links/use": "404 404 404 404 404 404",
    f"GET {A}/me": "401 200 200 200 200 200",
    f"PATCH {A}/me": "401 200 200 200 200 200",
    f"GET {A}/sessions": "401 200 200 200 200 200",
    f"DELETE {A}/sessions": "401 204 204 204 204 204",
    f"DELETE {A}/sessions/{{session_id}}": "401 204 404 404 404 404",
    f"PUT {A}/me/password": "401 200 403 403 403 403",
    f"GET {A}/me/data": "401 200 200 200 200 200",
    f"DELETE {A}/me": "401 204 403 403 403 403",
    f"GET {A}/tokens": "401 200 200 200 200 200",
    f"POST {A}/tokens": "401 201 201 201 201 201",
    f"DELETE {A}/tokens/{{token_id}}": "401 204 404 404 404 204",
    f"GET {A}/people": "401 403 403 403 403 200",
    f"POST {A}/people": "401 403 403 403 403 201",
    f"GET {A}/people/{{person_id}}": "401 404 200 404 404 200",
    f"PUT {A}/people/{{person_id}}/roles": "401 403 403 403 403 200",
    f"GET {A}/people/{{person_id}}/data": "401 403 200 403 403 200",
    f"DELETE {A}/people/{{person_id}}": "401 403 204 403 403 204",
    f"POST {A}/links": "401 403 403 403 403 201",
    f"GET {A}/games": "401 200 200 200 200 200",
    f"POST {A}/games": "401 201 201 403 403 201",
    f"POST {A}/games/import": "401 422 422 403 422 422",
    f"POST {A}/games/samples": "401 201 201 403 201 201",
    f"POST {A}/games/start": "401 201 201 403 403 201",
    f"GET {G}": "401 200 404 404 200 200",
    f"PATCH {G}": "401 200 404 404 403 403",
    f"PUT {A}/stories/excluded": "401 403 403 403 204 204",
    f"GET {G}/storium": "401 200 404 404 200 200",
    f"GET {G}/entries": "401 200 404 404 200 200",
    f"POST {G}/members": "401 201 404 404 403 403",
    f"PUT {G}/members/{{person_id}}": "401 200 404 404 403 403",
    f"DELETE {G}/members/{{person_id}}": "401 204 404 404 403 403",
    f"POST {G}/scenes": "401 201 404 404 403 403",
    f"PATCH {G}/scenes/{{scene_id}}": "401 200 404 404 403 403",
    f"GET {G}/scenes/{{scene_id}}/challenges": "401 200 404 404 200 200",
    f"POST {G}/scenes/{{scene_id}}/refresh": "401 201 404 404 403 403",
    f"POST {G}/scenes/{{scene_id}}/subplot": "401 201 404 404 403 403",
    f"POST {G}/characters": "401 201 404 404 403 403",
    f"PATCH {G}/characters/{{character_id}}": "401 200 404 404 403 403",
    f"GET {G}/cards": "401 200 404 404 200 200",
    f"POST {G}/cards": "401 201 404 404 403 403",
    f"PATCH {G}/cards/{{card_id}}": "401 200 404 404 403 403",
    f"PUT {G}/cards/{{card_id}}/owner": "401 200 404 404 403 403",
    f"DELETE {G}/cards/{{card_id}}": "401 200 404 404 403 403",
    f"POST {G}/cards/{{card_id}}/exchange": "401 201 404 404 403 403",
    f"POST {A}/drafts": "401 201 404 404 403 403",
    f"GET {A}/drafts": "401 200 200 200 200 200",
    f"GET {D}": "401 200 404 404 200 200",
    f"PATCH {D}": "401 200 404 404 403 403",
    f"POST {D}/save": "401 200 404 404 403 403",
    f"GET {D}/versions": "401 200 404 404 200 200",
    f"GET {D}/versions/{{number}}": "401 200 404 404 200 200",
    f"PUT {D}/versions/{{number}}/name": "401 204 404 404 403 403",
    f"POST {D}/restore": "401 200 404 404 403 403",
    f"GET {D}/log": "401 200 404 404 200 200",
    f"POST {D}/discard": "401 200 404 404 403 403",
    f"POST {D}/publish": "401 200 404 404 403 403",
    f"POST {D}/suggestions": "401 202 404 404 403 403",
    f"GET {D}/suggestions": "401 200 404 404 200 200",
    f"GET {S}": "401 200 404 404 200 200",
    f"GET {S}/context": "401 200 404 404 200 200",
    f"GET {S}/stream": "401 200 404 404 200 200",
    f"POST {S}/cancel": "401 200 404 404 403 403",
    f"GET {S}/ratings": "401 200 404 404 200 200",
    f"PUT {S}/ratings": "401 200 404 404 403 403",
    f"GET {A}/questions": "401 200 200 200 200 200",
    f"GET {A}/machines": "401 200 200 200 200 200",
    f"POST {A}/machines": "401 403 403 403 403 201",
    f"PATCH {A}/machines/{{machine_id}}": "401 403 403 403 403 200",
    f"GET {A}/assignments": "401 403 403 403 200 200",
    f"GET {A}/export": "401 403 403 403 200 200",
    f"GET {C}": "401 403 403 403 200 200",
    f"POST {C}": "401 403 403 403 201 201",
    f"GET {C}/{{campaign}}": "401 403 403 403 200 200",
    f"PUT {C}/{{campaign}}/state": "401 403 403 403 200 200",
    f"GET {C}/{{campaign}}/doors": "401 403 403 403 200 200",
    f"POST {C}/{{campaign}}/doors": "401 403 403 403 201 201",
    f"DELETE {C}/{{campaign}}/doors/{{door}}": "401 403 403 403 200 200",
    f"GET {C}/{{campaign}}/flags": "401 403 403 403 200 200",
    f"GET {C}/{{campaign}}/export": "401 403 403 403 200 200",
    f"POST {C}/{{campaign}}/verdicts": "401 403 403 403 409 409",
    f"PUT {C}/{{campaign}}/raters/{{number}}/excluded": "401 403 403 403 200 200",
    f"DELETE {C}/{{campaign}}/raters/{{number}}/identity": "401 403 403 403 204 204",
    f"POST {R}/enter/{{code}}": "200 200 200 200 200 200",
    f"GET {R}/{{campaign_id}}": "403 403 403 403 403 403",
    f"POST {R}/{{campaign_id}}/consent": "403 403 403 403 403 403",
    f"POST {R}/{{campaign_id}}/training": "403 403 403 403 403 403",
    f"POST {R}/{{campaign_id}}/next": "403 403 403 403 403 403",
    f"GET {R}/{{campaign_id}}/tasks": "403 403 403 403 403 403",
    f"GET {R}/{{campaign_id}}/tasks/{{assignment_id}}": "403 403 403 403 403 403",
    f"PUT {R}/{{campaign_id}}/tasks/{{assignment_id}}": "403 403 403 403 403 403",
    f"POST {R}/{{campaign_id}}/tasks/{{assignment_id}}/submit": "403 403 403 403 403 403",
    f"POST {R}/{{campaign_id}}/tasks/{{assignment_id}}/release": "403 403 403 403 403 403",
    f"GET {R}/{{campaign_id}}/pictures/{{digest}}": "403 403 403 403 403 403",
    f"POST {T}/stories/create": "404 404 404 404 404 404",
    f"GET {T}/stories/{{story_id}}/status": "404 404 404 404 404 404",
    f"POST {T}/suggestions/create": "404 404 404 404 404 404",
    f"GET {T}/suggestions/{{suggestion_id}}": "404 404 404 404 404 404",
    f"POST {T}/suggestions/{{suggestion_id}}/feedback": "404 404 404 404 404 404",
    f"POST {T}/suggestions/{{suggestion_id}}/finalize": "404 404 404 404 404 404",
    f"GET {T}/dashboard/sentence/histogram": "200 200 200 200 200 200",
    f"GET {T}/judgement/contexts": "401 404 404 404 200 200",
    f"GET {T}/data/download": "401 404 404 404 200 200",
    "GET /": "200 200 200 200 200 200",
    "GET /games/{game_id}": "401 401 401 401 401 401",
    "GET /games/{game_id}/characters": "401 401 401 401 401 401",
    "GET /games/{game_id}/cards": "401 401 401 401 401 401",
    "GET /games/{game_id}/settings": "401 401 401 401 401 401",
    "GET /games/{game_id}/story.{form}": "401 401 401 401 401 401",
    "GET /dashboard/": "401 200 200 403 200 200",
    "GET /dashboard/events": "401 200 200 403 200 200",
    "GET /dashboard/edits.html": "401 200 200 403 200 200",
    "GET /dashboard/edits.csv": "401 200 200 403 200 200",
    "GET /dashboard/{part_file}": "401 200 200 403 200 200",
    "GET /static/{file_name}": "200 200 200 200 200 200",
    "GET /review": "401 401 401 401 401 401",
    "GET /review/examples/{example}": "401 200 200 200 200 200",
    "POST /review/file": "401 422 422 422 422 422",
    "POST /review/read": "401 422 422 422 422 422",
    "GET /api/docs": "200 200 200 200 200 200",
    "GET /healthz": "200 200 200 200 200 200",
    "GET /readyz": "200 200 200 200 200 200",
    "GET /metrics": "401 403 403 403 403 200",
    "GET /campaigns": "401 401 401 401 401 401",
    "GET /campaigns/{name}": "401 401 401 401 401 401",
    "GET /campaigns/{name}/figures/{part_file}": "401 401 401 401 401 401",
    "GET /campaigns/{campaign}/{code}": "200 200 200 200 200 200",
    "GET /campaigns/{campaign}/{code}/instructions": "303 303 303 303 303 303",
    "GET /campaigns/{campaign}/{code}/practice": "303 303 303 303 303 303",
    "GET /campaigns/{campaign}/{code}/task": "303 303 303 303 303 303",
    "GET /campaigns/{campaign}/{code}/tasks/{number}": "303 303 303 303 303 303",
    "GET /campaigns/{campaign}/{code}/pause": "303 303 303 303 303 303",
    "GET /drafts/{draft_id}": "401 401 401 401 401 401",
    "GET /drafts/{draft_id}/replay": "401 401 401 401 401 401",
    "GET /drafts/{draft_id}/replay/film": "401 401 401 401 401 401",
    "GET /drafts/{draft_id}/authorship": "401 401 401 401 401 401",
    "GET /drafts/{draft_id}/authorship.csv": "401 401 401 401 401 401",
    "GET /drafts/{draft_id}/authorship.svg": "401 401 401 401 401 401",
    "GET /games/{game_id}/authorship": "401 401 401 401 401 401",
    "GET /games/{game_id}/authorship.csv": "401 401 401 401 401 401",
    "GET /games/{game_id}/authorship.svg": "401 401 401 401 401 401",
    "GET /sign-in": "200 200 200 200 200 200",
    "POST /sign-in": "303 303 303 303 303 303",
    "GET /sign-up": "200 200 200 200 200 200",
    "POST /sign-up": "403 403 403 403 403 403",
    "GET /account": "401 401 401 401 401 401",
    "GET /people": "401 401 401 401 401 401",
    "GET /machines": "401 401 401 401 401 401",
    "GET /account/link/{secret}": "404 404 404 404 404 404",
    "POST /account/link/{secret}": "404 404 404 404 404 404",
    "GET /account/login": "404 404 404 404 404 404",
    "GET /account/auth": "404 404 404 404 404 404",
    "GET /account/logout": "303 303 303 303 303 303",
}

FORMS = {
    "POST /sign-in": {"name": "ann", "password": PASSWORD},
    "POST /sign-up": {"name": "fay", "password": PASSWORD},
    "POST /account/link/{secret}": {"name": "fay", "password": PASSWORD},
}
EDIT = {"start": 0, "stop": 3, "inserted": "He"}
CAMPAIGN = {
    "name": "more-lamps", "title": "Lamps", "instructions": "Read, then rate.",
    "questions": [{"name": "fluency", "kind": "scale", "text": "Is it well written?"}],
}  # fmt: skip
BODIES = {
    f"POST {A}/sign-in": {"name": "ann", "password": PASSWORD},
    f"POST {A}/links/use": {"secret": "none", "name": "fay", "password": PASSWORD},
    f"PATCH {A}/me": {"display": "A. Writer", "email": "writer@example.org"},
    f"PUT {A}/me/password": {"old": PASSWORD, "new": "a boat without a bottom"},
    f"DELETE {A}/me": {"name": "ann"},
    f"POST {A}/tokens": {"name": "another"},
    f"POST {A}/people": {"name": "fay"},
    f"PUT {A}/people/{{person_id}}/roles": {"roles": ["author", "annotator"]},
    f"POST {A}/links": {"purpose": "invite"},
    f"POST {A}/games": {"key": "k", "title": "Another"},
    f"POST {A}/games/import": {"details": "none"},
    f"POST {A}/games/start": {"key": "k"},
    f"POST {G}/members": {"name": "ben", "part": "player"},
    f"PATCH {G}": {"title": "The lamp"},
    f"PUT {G}/members/{{person_id}}": {"part": "player"},
    f"PUT {A}/stories/excluded": {"story": "{story_id}"},
    f"POST {G}/scenes": {"key": "k"},
    f"PATCH {G}/scenes/{{scene_id}}": {"title": "Above"},
    f"POST {G}/scenes/{{scene_id}}/refresh": {"key": "k", "character_id": "{character_id}"},
    f"POST {G}/scenes/{{scene_id}}/subplot": {
        "key": "k", "character_id": "{character_id}", "name": "A letter",
    },
    f"POST {G}/characters": {"key": "k", "name": "Jonas"},
    f"PATCH {G}/characters/{{character_id}}": {"name": "Minna"},
    f"POST {G}/cards": {"key": "k", "namespace": "thing", "name": "Rope"},
    f"PATCH {G}/cards/{{card_id}}": {"name": "Calm"},
    f"PUT {G}/cards/{{card_id}}/owner": {"character_id": "{character_id}"},
    f"POST {G}/cards/{{card_id}}/exchange": {"key": "k", "name": "Stubborn"},
    f"POST {A}/drafts": {
        "key": "k", "game_id": "{game_id}", "scene_id": "{scene_id}",
        "character_id": "{character_id}",
    },
    f"PATCH {D}": {"cards": {}},
    f"POST {D}/save": {"key": "k", "base_version": 1, "edits": [EDIT]},
    f"PUT {D}/versions/{{number}}/name": {"name": "before"},
    f"POST {D}/restore": {"key": "k", "number": 0, "base_version": 1},
    f"POST {D}/publish": {"version": 1},
    f"POST {D}/suggestions": {"key": "k"},
    f"PUT {S}/ratings": {"ratings": {"fluency": 4}, "comment": "well told"},
    f"POST {C}": {"definition": CAMPAIGN, "stories": [{"id": "1", "text": "Once."}]},
    f"PUT {C}/{{campaign}}/state": {"state": "paused"},
    f"POST {C}/{{campaign}}/doors": {"way": "prolific", "completion": "C0DE"},
    f"POST {C}/{{campaign}}/verdicts": {
        "verdict": "rejected", "assignments": ["{assignment_id}"], "reason": "made up",
    },
    f"PUT {C}/{{campaign}}/raters/{{number}}/excluded": {"reason": "made up"},
    f"POST {R}/enter/{{code}}": {},
    f"POST {R}/{{campaign_id}}/training": {"number": 0, "answers": {}},
    f"PUT {R}/{{campaign_id}}/tasks/{{assignment_id}}": {"version": 0, "answers": {}},
    f"POST {R}/{{campaign_id}}/tasks/{{assignment_id}}/submit": {"version": 0, "answers": {}},
    f"POST {T}/stories/create": SMALL,
    f"POST {T}/suggestions/create": {"story_id": "{story_id}", "context": entry(9, None)},
    f"POST {T}/suggestions/{{suggestion_id}}/feedback": [{"type": "fluency", "response": "4"}],
    f"POST {T}/suggestions/{{suggestion_id}}/finalize": entry(9, "Ida ran."),
    "POST /review/read": {"drafts": [{"text": " "}]},
    f"POST {A}/machines": {"name": "other", "spec": "lorem"},
    f"PATCH {A}/machines/{{machine_id}}": {"quota": 10},
}  # fmt: skip


def list_routes():
    return {f"{method} {route.path}" for router in ROUTERS for route in router.routes
            for method in route.methods}  # fmt: skip


def fill(value, ids):
    if isinstance(value, dict):
        return {name: fill(inner, ids) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, ids) for inner in value]
    return ids[value[1:-1]] if isinstance(value, str) and value[:1] == "{" else value


def spell(row, world, who):
    """A request of the table, as somebody sends it."""
    method, path = row.split()
    ids = world.ids | ({"card_id": world.ids["wild_id"]} if path.endswith("/exchange") else {})
    request = {"headers": {} if who == "nobody" else world.bearer(who)}
    if row in FORMS:
        request["data"] = FORMS[row]
        request["headers"]["Origin"] = HOME
    elif row in BODIES:
        request["json"] = fill(BODIES[row], ids)
    return method, path.format(**ids), request


async def ask_everyone(row, app, world, opened):
    """Let everyone send a request, each to the studio that `opened` gives."""
    # Not from this machine, where figures are for everyone.
    door = httpx.ASGITransport(app, client=("203.0.113.5", 1))
    statuses = []
    async with httpx.AsyncClient(transport=door, base_url=HOME) as client:
        for who in WHO:
            app.state.web = Web(opened(who), QUICK)
            method, path, request = spell(row, world, who)
            statuses.append(str((await client.request(method, path, **request)).status_code))
    return " ".join(statuses)


def test_every_route_has_a_row_and_every_row_a_route():
    assert list_routes() == set(TABLE)


@pytest.mark.parametrize("row", TABLE)
def test_who_is_answered_what(row, shared_app, first_world, tmp_path):
    path, world = first_world
    studios = {}

    def open_copy(who):
        # Everyone finds the studio as it was at first; who only looks leaves it so.
        name = "all" if row.startswith("GET") else who
        if name not in studios:
            shutil.copy(path, tmp_path / f"{name}.sqlite")
            studios[name] = open_studio(f"sqlite:///{tmp_path / name}.sqlite")
        return studios[name]

    assert run_coroutine(ask_everyone(row, shared_app, world, open_copy)) == TABLE[row]
    for studio in studios.values():
        studio.close()
