"""Signing in elsewhere, against a provider with real keys."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import OctKey
from starlette.testclient import TestClient

from fabula.studio.people import find_person, read_profile, set_roles
from fabula.web.identity import Web
from fabula.web.oidc import keep_local
from fabula.web.settings import OpenIdSettings
from fakes.issuer import CLIENT_ID, CLIENT_SECRET, make_key, serve_issuer
from web.conftest import HOME, QUICK

PUBLIC = "public keys are no shared secret"


@pytest.fixture(scope="module")
def provider():
    with serve_issuer() as running:
        yield running


@pytest.fixture
def issuer(provider):
    """The provider, as it is when it means well."""
    provider.reset()
    return provider


@pytest.fixture
def lab(app, studio, issuer):
    """A browser before a studio whose people sign in elsewhere."""
    meanings = {"dataset": "dataset", "judgement": "judgement", "staff": "researcher"}
    open_id = OpenIdSettings(issuer.url, CLIENT_ID, CLIENT_SECRET, meanings=meanings)
    app.state.web = Web(studio, replace(QUICK, open_id=open_id))
    return TestClient(app, base_url=HOME, follow_redirects=False)


def leave(browser, target=""):
    """Go to the provider, be let in there, and give where it sends the browser."""
    away = browser.get("/account/login" + (f"?next={target}" if target else ""))
    assert away.status_code == 303
    return httpx.get(away.headers["location"], verify=False).headers["location"]


def sign_in(browser, target=""):
    return browser.get(leave(browser, target))


def test_somebody_known_elsewhere_comes_in_as_an_author(lab, issuer, studio):
    issuer.claims["resource_access"] = {CLIENT_ID: {"roles": ["dataset", "unheard of"]}}
    back = sign_in(lab, "/api/docs")
    assert back.status_code == 303
    assert back.headers["location"] == "/api/docs"
    me = lab.get("/api/v1/me").json()
    assert me["person"]["name"] == "fay"
    assert me["person"]["roles"] == ["author"]
    assert me["person"]["scopes"] == ["dataset"]
    assert me["email"] == "fay@example.org"
    assert not me["has_password"]


def test_the_same_person_comes_back_as_the_same(lab, issuer):
    sign_in(lab)
    first = lab.get("/api/v1/me").json()["person"]["id"]
    issuer.claims["name"] = "Fay Another"
    sign_in(lab)
    assert lab.get("/api/v1/me").json()["person"]["id"] == first


def test_scopes_open_what_they_are_for_at_storiums_door(lab, issuer):
    issuer.claims["resource_access"] = {CLIENT_ID: {"roles": ["judgement"]}}
    first = lab.get("/api/storium/judgement/contexts")
    assert first.status_code == 303
    sign_in(lab, "/api/storium/judgement/contexts")
    assert lab.get("/api/storium/judgement/contexts").text.startswith("suggestion_id,")
    assert lab.get("/api/storium/data/download").status_code == 404
    # A browser is no backend, whoever sits before it.
    assert lab.post("/api/storium/stories/create", json={}).status_code == 404


def test_roles_that_are_mapped_are_given_and_taken_by_the_provider(lab, issuer, studio):
    issuer.claims["resource_access"] = {CLIENT_ID: {"roles": ["staff"]}}
    sign_in(lab)
    assert lab.get("/api/v1/me").json()["person"]["roles"] == ["author", "researcher"]
    set_roles(studio, None, find_person(studio, "fay").id, ["annotator", "researcher"])
    issuer.claims["resource_access"] = {}
    sign_in(lab)
    # What an admin gave here is not the provider's to take.
    assert lab.get("/api/v1/me").json()["person"]["roles"] == ["annotator"]


def test_the_way_there_carries_state_nonce_and_a_challenge(lab, issuer):
    away = lab.get("/account/login")
    query = parse_qs(urlsplit(away.headers["location"]).query)
    assert query["redirect_uri"] == [f"{HOME}/account/auth"]
    assert query["code_challenge_method"] == ["S256"]
    assert query["response_type"] == ["code"]
    assert "openid" in query["scope"][0]
    assert len({query[name][0] for name in ("state", "nonce", "code_challenge")}) == 3
    again = parse_qs(urlsplit(lab.get("/account/login").headers["location"]).query)
    assert again["state"] != query["state"]
    assert "HttpOnly" in away.headers["set-cookie"]
    assert CLIENT_SECRET not in away.headers["location"]


def refuse(lab, answer):
    assert answer.status_code == 403, answer.text
    assert lab.get("/api/v1/me").status_code == 401


def test_a_wrong_state_is_refused(lab):
    place = leave(lab)
    refuse(lab, lab.get(place.replace("state=", "state=x")))


def test_somebody_elses_way_back_is_of_no_use(lab, studio):
    stolen = leave(lab)
    other = TestClient(lab.app, base_url=HOME, follow_redirects=False)
    assert other.get(stolen).status_code == 422
    other.get("/account/login")
    refuse(other, other.get(stolen))


def test_a_code_works_once(lab):
    place = leave(lab)
    cookies = dict(lab.cookies)
    assert lab.get(place).status_code == 303
    lab.cookies.clear()
    lab.cookies.update(cookies)
    refuse(lab, lab.get(place))


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"aud": "another"},
        {"aud": ["another", CLIENT_ID]},
        {"iss": "https://elsewhere.example.org"},
        {"exp": 1_000_000_000},
        {"sub": None},
        {"nonce": None},
        {"exp": None},
    ],
    ids=lambda claims: str(claims)[:40],
)
def test_a_token_for_another_sign_in_is_refused(lab, issuer, claims):
    issuer.claims = claims
    refuse(lab, sign_in(lab))


def test_a_token_for_several_names_us_as_the_one_who_asked(lab, issuer):
    issuer.claims = {"aud": ["another", CLIENT_ID], "azp": CLIENT_ID}
    assert sign_in(lab).status_code == 303


def test_a_forged_signature_is_refused(lab, issuer):
    issuer.signing_key = make_key("first forged")
    refuse(lab, sign_in(lab))


def test_a_token_signed_with_a_shared_secret_is_refused(lab, issuer):
    issuer.signing_key = OctKey.import_key(PUBLIC, {"kid": "first"})
    issuer.algorithm = "HS256"
    refuse(lab, sign_in(lab))


def test_new_keys_of_the_provider_are_asked_for(lab, issuer):
    sign_in(lab)
    issuer.key = make_key("second")
    assert sign_in(lab).status_code == 303


def test_what_the_provider_says_of_itself_is_asked_once(lab, issuer):
    for _ in range(3):
        sign_in(lab)
    assert issuer.asked.count("/.well-known/openid-configuration") == 1
    assert issuer.asked.count("/keys") == 1


def test_an_address_that_nobody_checked_is_not_taken(lab, issuer, studio):
    issuer.claims["email_verified"] = False
    sign_in(lab)
    person = find_person(studio, lab.get("/api/v1/me").json()["person"]["id"])
    assert read_profile(studio, None, person.id).email is None


def test_a_provider_that_does_not_answer_is_503(app, studio):
    open_id = OpenIdSettings("http://127.0.0.1:9", CLIENT_ID, CLIENT_SECRET)
    app.state.web = Web(studio, replace(QUICK, open_id=open_id))
    lab = TestClient(app, base_url=HOME)
    assert lab.get("/account/login").status_code == 503


def test_a_provider_that_refuses_is_403(lab):
    place = leave(lab)
    state = parse_qs(urlsplit(place).query)["state"][0]
    refuse(lab, lab.get(f"/account/auth?state={state}&error=access_denied"))


def test_without_a_provider_there_is_no_such_door(client):
    assert client.get("/account/login").status_code == 404
    assert client.get("/account/auth?code=x&state=y").status_code == 404


def test_going_out_ends_the_session_but_not_at_the_word_of_another_site(lab):
    sign_in(lab)
    lab.get("/account/logout", headers={"sec-fetch-site": "cross-site"})
    assert lab.get("/api/v1/me").status_code == 200
    lab.get("/account/logout")
    assert lab.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize(
    "target",
    ["https://evil.example.com", "//evil.example.com", "/\\evil.example.com", "evil", "/a\nb", ""],
)
def test_nobody_is_sent_elsewhere_afterwards(target):
    assert keep_local(target) == "/"
    assert keep_local("/games?open=1") == "/games?open=1"
