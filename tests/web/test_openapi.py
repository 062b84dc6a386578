"""What programs of others rely on stays as it is, unless somebody means to change it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FROZEN = Path(__file__).resolve().parents[2] / "docs" / "studio" / "openapi.json"


@pytest.fixture
def described(client):
    return client.get("/api/v1/openapi.json").json()


def test_the_api_is_as_it_was_frozen(described):
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    again = "the API has changed; if that is meant: make openapi"
    assert sorted(described["paths"]) == sorted(frozen["paths"]), again
    for path, operations in described["paths"].items():
        assert operations == frozen["paths"][path], f"{path}: {again}"
    assert described == frozen, again


def test_every_operation_is_named_and_says_what_it_does(described):
    names = []
    for operations in described["paths"].values():
        for operation in operations.values():
            names.append(operation["operationId"])
            assert operation["description"].strip().endswith(".")
    assert len(set(names)) == len(names)


def test_whatever_is_for_people_says_how_to_come_in(described):
    public = {
        f"{method} {path}"
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
        if "security" not in operation
    }
    assert public == {
        "post /api/v1/sign-in",
        "post /api/v1/links/use",
        "post /api/v1/rating/enter/{code}",
        "get /healthz",
        "get /readyz",
        "get /api/storium/dashboard/sentence/histogram",
    }


def test_the_page_of_the_api_lists_it_all_and_loads_what_is_ours(client, described):
    page = client.get("/api/docs")
    assert all(path in page.text for path in described["paths"])
    assert 'src="/static/' in page.text
    assert page.text.count("<script") == page.text.count('src="/static/')
    assert "http://" not in page.text.replace("http://127.0.0.1", "")
    assert "'unsafe-inline'" not in page.headers["content-security-policy"]
