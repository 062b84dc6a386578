"""Requests that nobody should send: the right status, and nothing changed."""

from __future__ import annotations

import gzip
import json
import os
import re
from itertools import count
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from sqlalchemy import func, select

from fabula.studio.tables import METADATA
from web.conftest import HOME

A = "/api/v1"
FROZEN = Path(__file__).resolve().parents[2] / "docs" / "studio" / "openapi.json"
DESCRIBED = json.loads(FROZEN.read_text(encoding="utf-8"))
OPERATIONS = [
    f"{method.upper()} {path}"
    for path, operations in DESCRIBED["paths"].items()
    for method in operations
]
# Of each operation, and each mode; `make fuzz` asks for more.
EXAMPLES = max(2, int(os.environ.get("FABULA_FUZZ", "0")) // 50)
LITTLE = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def schema():
    return schemathesis.openapi.from_dict(DESCRIBED)


@pytest.mark.parametrize(
    ("operation", "mode"),
    [
        pytest.param(operation, mode, id=f"{operation} {mode.value}")
        for operation in OPERATIONS
        for mode in GenerationMode
        # Where nothing is asked, nothing can be answered wrongly.
        if mode is GenerationMode.POSITIVE or operation not in ("GET /healthz", "GET /readyz")
    ],
)
def test_whatever_is_sent_no_operation_breaks(operation, mode, schema, client, world):
    method, path = operation.split()
    is_door = path.startswith("/api/storium/")
    callers = ("platform", "eve") if is_door else ("ann", "eve")
    ids = world.ids | ({"suggestion_id": world.ids["door_id"]} if is_door else {})
    turns = count()

    @LITTLE
    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    def send(case):
        turn = next(turns)
        if turn % 2 == 0 and case.path_parameters:
            # Half of them are about things that are there.
            case.path_parameters = case.path_parameters | {
                name: ids[name] for name in case.path_parameters if name in ids
            }
        request = case.as_transport_kwargs(base_url=HOME)
        request.pop("cookies", None)
        if isinstance(request.get("data"), bytes | str):
            request["content"] = request.pop("data")
        request["headers"] = dict(request["headers"]) | world.bearer(callers[turn >= 2])
        answer = client.request(**request)
        assert answer.status_code < 500, f"{case.as_curl_command()}\n{answer.text}"
        assert str(answer.status_code) in DESCRIBED["paths"][path][method.lower()]["responses"]

    send()


def count_rows(studio):
    with studio.read() as db:
        return {
            table.name: db.scalar(select(func.count()).select_from(table))
            for table in METADATA.sorted_tables
        }


def digest_rows(studio):
    """All that the studio holds, but for when tokens and people were last seen."""
    seen = {"used_at", "seen_at"}
    with studio.read() as db:
        return {
            table.name: sorted(
                repr([value for name, value in row.items() if name not in seen])
                for row in db.execute(select(table)).mappings()
            )
            for table in METADATA.sorted_tables
        }


@pytest.fixture
def unchanged(studio):
    """What the studio holds before is what it holds after."""
    before, rows = count_rows(studio), digest_rows(studio)
    assert before["edits"] == 1 and before["suggestions"] == 2
    yield
    assert count_rows(studio) == before
    assert digest_rows(studio) == rows


JSON = {"Content-Type": "application/json"}
SAVE = b'{"key": "x", "base_version": 1, "edits": [{"start": 0, "stop": %s, "inserted": "%s"}]}'


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"null", 422),
        (b"[]", 422),
        (b'"text"', 422),
        (b"\xff\xfe\x00", 400),
        (b'{"key": "x", "base_version": NaN, "edits": []}', 400),
        (b'{"key": "x", "base_version": 1e999, "edits": []}', 400),
        (b'{"key": "x", "base_version": 1, "edits": [], "more": 1}', 422),
        (b'{"key": "", "base_version": 1, "edits": []}', 422),
        (b'{"key": "x", "base_version": -1, "edits": []}', 422),
        (b'{"key": "x", "base_version": 99999999999999999999, "edits": []}', 422),
        (b'{"key": "x", "base_version": 1, "edits": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400),
        (SAVE % (b"0", b"\\u0000"), 400),
        (SAVE % (b"0", b"\\ud800"), 400),
        (SAVE % (b"9999", b"x"), 422),
        (SAVE % (b"-1", b"x"), 422),
        (SAVE % (b"0", b"x" * 4_200_000), 413),
        (SAVE % (b"0", b"x" * 200_000), 422),
    ],
    ids=lambda value: repr(value[:44]) if isinstance(value, bytes) else None,
)
def test_a_saving_that_cannot_be_is_refused(as_ann, world, unchanged, body, status):
    answer = as_ann.post(f"{A}/drafts/{world.ids['draft_id']}/save", content=body, headers=JSON)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"message", "remedy"}
    assert len(answer.text) < 500


def test_a_body_without_its_type_is_not_taken_for_json(as_ann, unchanged):
    body = json.dumps({"key": "k", "title": "A game"})
    for kind in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "text/html"}):
        assert as_ann.post(f"{A}/games", content=body, headers=kind).status_code == 422


def test_a_gzip_bomb_is_refused_where_games_come_in(as_ann, unchanged):
    bomb = gzip.compress(b'{"a": "' + b"x" * 40_000_000 + b'"}')
    headers = JSON | {"Content-Encoding": "gzip"}
    assert len(bomb) < 100_000
    assert as_ann.post(f"{A}/games/import", content=bomb, headers=headers).status_code == 413
    cut = as_ann.post(f"{A}/games/import", content=bomb[:500], headers=headers)
    assert cut.status_code == 400
    assert as_ann.post(f"{A}/games", content=bomb, headers=headers).status_code == 415


@pytest.mark.parametrize(
    "game_id",
    ["1", "0" * 31, "0" * 33, "Z" * 32, "%00" * 32, "..%2f..%2fetc", "0" * 5000, "%ff", "' OR 1=1"],
)
def test_an_identity_that_cannot_be_one_names_nothing(as_ann, unchanged, game_id):
    answer = as_ann.get(f"{A}/games/{game_id}")
    assert answer.status_code == 404
    assert answer.json()["message"] == "there is nothing at this address"


@pytest.mark.parametrize(
    "wanted", ["words=9-1", "pages=1-2", "words=0-99999999999", "", "bytes=0-"]
)
def test_a_wrong_range_is_refused(as_ann, world, unchanged, wanted):
    body = {"key": "k", "wanted": wanted}
    answer = as_ann.post(f"{A}/drafts/{world.ids['draft_id']}/suggestions", json=body)
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/drafts/{draft_id}", None),
        ("POST", "/drafts/{draft_id}/publish", {"version": 1}),
        ("POST", "/drafts/{draft_id}/discard", None),
        ("POST", "/drafts/{draft_id}/suggestions", {"key": "k"}),
        ("POST", "/drafts/{draft_id}/save", {"key": "k", "base_version": 1, "edits": []}),
        ("GET", "/suggestions/{suggestion_id}", None),
        ("PUT", "/suggestions/{suggestion_id}/ratings", {"ratings": {"fluency": 1}}),
        ("GET", "/games/{game_id}/storium", None),
        ("PATCH", "/games/{game_id}", {"title": "Mine"}),
        ("POST", "/games/{game_id}/scenes", {"key": "k"}),
        ("DELETE", "/games/{game_id}/cards/{card_id}", None),
    ],
)
def test_somebody_elses_story_is_not_there(client, world, unchanged, method, path, body):
    answer = client.request(
        method, A + path.format(**world.ids), json=body, headers=world.bearer("ben")
    )
    assert answer.status_code == 404
    assert "lantern" not in answer.text
    nothing = dict.fromkeys(world.ids, "f" * 32)
    absent = client.request(
        method, A + path.format(**nothing), json=body, headers=world.bearer("ben")
    )
    # What is not there and what is not for these eyes are told apart by nobody.
    assert absent.status_code == 404
    assert re.sub("[0-9a-f]{32}", "", absent.text) == re.sub("[0-9a-f]{32}", "", answer.text)


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PUT", "FOO"])
def test_a_method_that_is_not_there_is_405(as_ann, unchanged, method):
    assert as_ann.request(method, f"{A}/games").status_code == 405
