"""The gate, in front of a small app."""

from __future__ import annotations

import gzip
import logging

import pytest
from fastapi import FastAPI, Request
from starlette.testclient import TestClient

from fabula.core.errors import Conflict, InputError, NoCapacity, NotAllowed, NotFound
from fabula.web.errors import Unauthenticated, add_error_answers
from fabula.web.security import Gate, is_loopback, split_host
from fabula.web.settings import Rate, Settings

ERRORS = {
    "absent": (NotFound, 404),
    "forbidden": (NotAllowed, 403),
    "changed": (Conflict, 409),
    "busy": (NoCapacity, 503),
    "odd": (InputError, 422),
    "nobody": (Unauthenticated, 401),
}


class Figures:
    def __init__(self):
        self.seen = []

    def observe(self, scope, status, seconds):
        self.seen.append((scope["method"], status))


def make_client(settings=None, *, client=("127.0.0.1", 5000), base="http://127.0.0.1:8000"):
    app = FastAPI()
    add_error_answers(app)

    @app.post("/echo")
    @app.post("/api/v1/games/import")
    async def echo(request: Request):
        return {"length": len(await request.body())}

    @app.get("/fail/{name}")
    def fail(name: str):
        if name == "bug":
            raise RuntimeError("a secret of the house")
        raise ERRORS[name][0]("no", "do this")

    figures = Figures()
    app.add_middleware(Gate, settings=settings or Settings(), observer=figures)
    made = TestClient(app, base_url=base, client=client)
    made.figures = figures
    return made


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_a_status_a_message_and_a_remedy(name):
    answer = make_client().get(f"/fail/{name}")
    assert answer.status_code == ERRORS[name][1]
    assert answer.json() == {"message": "no", "remedy": "do this"}


def test_who_finds_no_capacity_is_told_when_to_come_again():
    assert int(make_client().get("/fail/busy").headers["retry-after"]) > 0


def test_a_bug_is_a_sentence_and_a_number_that_stands_in_the_log(caplog):
    with caplog.at_level(logging.ERROR, "fabula.web"):
        answer = make_client().get("/fail/bug")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.json()["id"] == answer.headers["x-request-id"]
    assert answer.json()["id"] in caplog.text
    assert "a secret of the house" in caplog.text


def test_every_answer_tells_the_browser_what_it_may_not_do():
    for path in ("/fail/absent", "/fail/bug", "/nowhere"):
        headers = make_client().get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
        assert "strict-transport-security" not in headers


def test_over_https_the_browser_is_told_to_stay_there():
    client = make_client(base="https://127.0.0.1:8000")
    assert "strict-transport-security" in client.get("/nowhere").headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 404),
        ("127.0.0.1", 404),
        ("[::1]:8000", 404),
        ("192.168.1.20:8000", 404),
        ("studio.example.org", 404),
        ("evil.example.com", 400),
        ("localhost.evil.example.com", 400),
        ("", 400),
    ],
)
def test_the_studio_answers_to_its_own_names(host, status):
    client = make_client(Settings(public_url="https://studio.example.org"))
    assert client.get("/nowhere", headers={"host": host}).status_code == status


def test_any_name_will_do_where_that_is_set():
    client = make_client(Settings(hosts=("*",)))
    assert client.get("/nowhere", headers={"host": "any.example"}).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example.com"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_what_another_site_sends_is_refused(headers):
    client = make_client()
    assert client.post("/echo", content=b"x", headers=headers).status_code == 403


def test_what_our_own_page_sends_is_taken():
    headers = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert make_client().post("/echo", content=b"x", headers=headers).json()["length"] == 1


def test_a_long_body_is_refused_by_its_length_and_while_it_comes():
    client = make_client(Settings(max_body=1000))
    assert client.post("/echo", content=bytes(1000)).status_code == 200
    assert client.post("/echo", content=bytes(1001)).status_code == 413
    pieces = (bytes(100) for _ in range(50))
    assert client.post("/echo", content=pieces).status_code == 413
    lie = {"content-length": "10"}
    assert client.post("/echo", content=bytes(2000), headers=lie).status_code == 413


def test_a_compressed_body_is_read_where_games_come_in_and_nowhere_else():
    client = make_client(Settings(max_inflated=5000))
    gz = {"content-encoding": "gzip"}
    good, bomb = gzip.compress(bytes(5000)), gzip.compress(bytes(5001))
    assert client.post("/api/v1/games/import", content=good, headers=gz).json()["length"] == 5000
    assert client.post("/api/v1/games/import", content=bomb, headers=gz).status_code == 413
    assert client.post("/api/v1/games/import", content=b"no", headers=gz).status_code == 400
    assert client.post("/echo", content=good, headers=gz).status_code == 415
    br = {"content-encoding": "br"}
    assert client.post("/api/v1/games/import", content=good, headers=br).status_code == 415


def test_an_address_that_asks_too_often_waits():
    client = make_client(Settings(rate_address=Rate(3, 3600)))
    assert [client.get("/nowhere").status_code for _ in range(4)] == [404, 404, 404, 429]
    assert int(client.get("/nowhere").headers["retry-after"]) > 60
    assert client.get("/healthz").status_code == 404


def test_all_answers_are_counted():
    client = make_client(Settings(max_body=10))
    client.get("/fail/bug")
    client.post("/echo", content=bytes(11))
    client.post("/echo", content=bytes(9))
    assert client.figures.seen == [("GET", 500), ("POST", 413), ("POST", 200)]


def test_hosts_lose_their_port():
    hosts = ("a.example:80", "A.example", "[::1]:80", "[::1]", "1.2.3.4:5", "")
    bare = ["a.example", "a.example", "::1", "::1", "1.2.3.4", ""]
    assert [split_host(host) for host in hosts] == bare
    assert is_loopback("127.0.0.9")
    assert not is_loopback("10.0.0.1")
