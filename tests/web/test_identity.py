"""Who asks: cookies, tokens, and that a browser's page was ours."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from fabula.studio.links import make_link
from fabula.studio.tables import audit
from fabula.studio.tokens import list_tokens
from fabula.web.app import create_app
from fabula.web.settings import Rate, Settings
from web.conftest import HOME, PASSWORD, QUICK


def sign_in(client, password=PASSWORD):
    return client.post("/api/v1/sign-in", json={"name": "ann", "password": password})


def test_nobody_is_told_what_to_do(client):
    answer = client.get("/api/v1/me")
    assert answer.status_code == 401
    assert "sign in" in answer.json()["remedy"]
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_browser_signs_in_and_out(client):
    answer = sign_in(client)
    assert answer.status_code == 200
    assert answer.json()["person"]["name"] == "ann"
    me = client.get("/api/v1/me").json()
    assert me["person"]["roles"] == ["author"]
    assert me["csrf"] == answer.json()["csrf"]
    out = client.post("/api/v1/sign-out", headers={"X-CSRF-Token": me["csrf"]})
    assert out.status_code == 204
    assert client.get("/api/v1/me").status_code == 401


def test_a_session_that_was_ended_is_of_no_use_to_who_copied_its_cookie(client):
    csrf = sign_in(client).json()["csrf"]
    cookie = dict(client.cookies)
    client.post("/api/v1/sign-out", headers={"X-CSRF-Token": csrf})
    client.cookies.update(cookie)
    assert client.get("/api/v1/me").status_code == 401


def test_a_wrong_password_is_401_and_gives_no_cookie(client):
    answer = sign_in(client, "wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("address", "network"),
    [("203.0.113.77", "203.0.113.0/24"), ("2001:db8:1:2::3", "2001:db8:1::/48"), ("unix", None)],
)
def test_the_audit_log_says_from_which_network_and_not_from_which_address(
    app, studio, address, network
):
    sign_in(TestClient(app, base_url=HOME, client=(address, 1)))
    with studio.read() as db:
        rows = db.execute(select(audit.c.action, audit.c.detail).order_by(audit.c.id)).all()
    assert rows[-1] == ("sign_in", {"network": network} if network else {})
    assert "network" not in rows[0].detail


@pytest.mark.parametrize(
    ("base", "name", "is_secure"),
    [
        ("http://127.0.0.1:8000", "fabula-session", False),
        ("http://localhost:8000", "fabula-session", False),
        ("https://127.0.0.1", "__Host-fabula-session", True),
        ("https://192.168.1.5", "__Host-fabula-session", True),
        ("http://192.168.1.5:8000", "__Host-fabula-session", True),
    ],
)
def test_cookies_are_for_https_but_on_ones_own_machine(app, base, name, is_secure):
    cookie = sign_in(TestClient(app, base_url=base)).headers["set-cookie"]
    assert cookie.startswith(f"{name}=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert ("Secure" in cookie) is is_secure


@pytest.mark.parametrize("shown", [None, "", "0" * 43, "é"])
def test_what_a_cookie_alone_sends_changes_nothing(client, shown):
    sign_in(client)
    headers = {} if shown is None else {"X-CSRF-Token": shown.encode()}
    answer = client.post("/api/v1/tokens", json={"name": "mine"}, headers=headers)
    assert answer.status_code == 403
    assert client.get("/api/v1/tokens").json()["total"] == 2


def test_with_the_sessions_own_word_it_is_done(client):
    headers = {"X-CSRF-Token": sign_in(client).json()["csrf"]}
    assert client.post("/api/v1/tokens", json={"name": "x"}, headers=headers).status_code == 201


def test_a_token_needs_no_such_word_and_is_revoked_for_good(as_ann):
    made = as_ann.post("/api/v1/tokens", json={"name": "notebook"}).json()
    mine = {"Authorization": f"Bearer {made['secret']}"}
    assert as_ann.get("/api/v1/me", headers=mine).json()["csrf"] is None
    assert as_ann.delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert as_ann.get("/api/v1/me", headers=mine).status_code == 401


@pytest.mark.parametrize("header", ["Bearer nonsense", "Bearer", "Basic YTpi", "Bearer \xff"])
def test_a_bad_token_is_401_even_beside_a_good_cookie(client, header):
    sign_in(client)
    headers = {"Authorization": header.encode("latin-1")}
    assert client.get("/api/v1/me", headers=headers).status_code == 401


def test_secrets_of_tokens_are_not_shown_again(as_ann, studio, world):
    listed = as_ann.get("/api/v1/tokens")
    assert world.secrets["ann"] not in listed.text
    assert len(list_tokens(studio, world.people["ann"])) == listed.json()["total"] == 2


def test_a_person_who_asks_too_often_waits_and_others_do_not(studio, world):
    settings = Settings(rate_person=Rate(2, 3600), rate_address=Rate(0))
    client = TestClient(create_app(studio, settings), base_url=HOME)
    codes = [client.get("/api/v1/me", headers=world.bearer("ann")).status_code for _ in range(3)]
    assert codes == [200, 200, 429]
    assert client.get("/api/v1/me", headers=world.bearer("ben")).status_code == 200


def test_sign_ins_of_an_address_are_few(studio):
    settings = Settings(rate_sign_in=Rate(2, 3600))
    client = TestClient(create_app(studio, settings), base_url=HOME)
    assert [sign_in(client).status_code for _ in range(3)] == [200, 200, 429]
    assert int(sign_in(client).headers["retry-after"]) > 0


def test_a_link_lets_one_person_in_once(client, studio, world):
    secret = make_link(studio, world.people["eve"], purpose="invite", roles=["author"])
    page = client.get(f"/account/link/{secret}")
    assert page.status_code == 200
    assert "<form" in page.text
    client.headers["Origin"] = HOME
    short = client.post(f"/account/link/{secret}", data={"name": "fay", "password": "x"})
    assert short.status_code == 422
    assert "problem" in short.text
    done = client.post(
        f"/account/link/{secret}",
        data={"name": "fay", "password": PASSWORD},
        follow_redirects=False,
    )
    assert done.status_code == 303
    assert client.get("/api/v1/me").json()["person"]["name"] == "fay"
    assert client.get(f"/account/link/{secret}").status_code == 404
    again = {"secret": secret, "name": "gus", "password": PASSWORD}
    assert client.post("/api/v1/links/use", json=again).status_code == 404


def test_behind_a_trusted_proxy_an_address_is_that_of_the_browser(studio):
    settings = Settings(proxies=("10.0.0.1",), rate_address=Rate(1, 3600), hosts=("*",))
    app = create_app(studio, settings)

    def ask(client, forwarded):
        headers = {"x-forwarded-for": forwarded, "x-forwarded-proto": "https"}
        return TestClient(app, base_url=HOME, client=(client, 1)).get("/healthz1", headers=headers)

    first = ask("10.0.0.1", "203.0.113.7")
    assert "strict-transport-security" in first.headers
    assert first.status_code == 404
    assert ask("10.0.0.1", "203.0.113.7").status_code == 429
    assert ask("10.0.0.1", "203.0.113.8").status_code == 404
    # Who is no proxy speaks for nobody.
    assert ask("198.51.100.9", "203.0.113.9").status_code == 404
    assert ask("198.51.100.9", "203.0.113.10").status_code == 429
    assert QUICK.proxies == ()
