from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import SettingError
from fabula.web.settings import Rate, ReviewSettings, Settings, StoriumSettings, read_settings

LAB = {
    "FABULA_OIDC_ISSUER": "https://login.example.org/realm/",
    "FABULA_OIDC_CLIENT_ID": "studio",
    "FABULA_OIDC_CLIENT_SECRET": "hidden",
}


def test_nothing_has_to_be_set():
    assert read_settings({}) == Settings()
    assert Settings().max_body == 4 * 1024 * 1024
    assert Settings().open_id is None


def test_settings_are_read_from_the_environment():
    settings = read_settings(
        {
            "FABULA_PUBLIC_URL": "https://studio.example.org/",
            "FABULA_HOSTS": "studio.lan, other.lan",
            "FABULA_TRUSTED_PROXIES": "10.0.0.0/8",
            "FABULA_MAX_BODY": "1000",
            "FABULA_RATE_ADDRESS": "off",
            "FABULA_RATE_SIGN_IN": "5/min",
            "FABULA_STORIUM_SECRET": "0123456789abcdef",
            "FABULA_STORIUM_REQUIRED": "fluency, comments",
            "FABULA_STORIUM_DATASET": "games.zip",
            "FABULA_REVIEW": "open",
            "FABULA_RATE_REVIEW": "5/h",
            "FABULA_REVIEW_WEIGHTS": "runs/mine",
        }
    )
    assert settings.public_url == "https://studio.example.org"
    assert settings.hosts == ("studio.lan", "other.lan")
    assert settings.proxies == ("10.0.0.0/8",)
    assert settings.max_body == 1000
    assert settings.rate_address == Rate(0)
    assert settings.rate_sign_in == Rate(5, 60)
    wanted = StoriumSettings("0123456789abcdef", ("fluency", "comments"), Path("games.zip"))
    assert settings.storium == wanted
    assert settings.review == ReviewSettings(True, Rate(5, 3600), "runs/mine", "order")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FABULA_PUBLIC_URL", "studio.example.org"),
        ("FABULA_PUBLIC_URL", "ftp://studio.example.org"),
        ("FABULA_MAX_BODY", "4M"),
        ("FABULA_MAX_BODY", "-1"),
        ("FABULA_RATE_PERSON", "many"),
        ("FABULA_RATE_PERSON", "0/s"),
        ("FABULA_STORIUM_SECRET", "too short"),
        ("FABULA_REVIEW", "yes"),
        ("FABULA_STORIUM_REQUIRED", "likability"),
    ],
)
def test_a_bad_setting_is_named(name, value):
    with pytest.raises(SettingError, match=name):
        read_settings({name: value})


def test_openid_needs_a_client():
    with pytest.raises(SettingError, match="FABULA_OIDC_CLIENT_ID"):
        read_settings({"FABULA_OIDC_ISSUER": "https://login.example.org"})


def test_openid_needs_https_but_on_ones_own_machine():
    with pytest.raises(SettingError, match="https"):
        read_settings(LAB | {"FABULA_OIDC_ISSUER": "http://login.example.org"})
    assert read_settings(LAB | {"FABULA_OIDC_ISSUER": "http://127.0.0.1:9000"}).open_id


def test_the_claim_of_a_client_is_keycloaks_unless_named():
    plain = read_settings(LAB).open_id
    named = read_settings(LAB | {"FABULA_OIDC_CLAIM": "groups"}).open_id
    assert plain.issuer == "https://login.example.org/realm"
    assert plain.claim_path == ["resource_access", "studio", "roles"]
    assert named.claim_path == ["groups"]


def test_a_secret_is_not_shown():
    assert "hidden" not in repr(read_settings(LAB))


def test_nobody_has_a_role_by_a_word_of_the_provider_unless_it_is_mapped():
    plain = read_settings(LAB).open_id.meanings
    named = read_settings(LAB | {"FABULA_OIDC_MAP": "staff=admin, readers=judgement"}).open_id
    assert plain["dataset"] == "dataset"
    assert "researcher" not in plain
    assert "admin" not in plain
    assert named.managed_roles == ("admin",)
    assert named.meanings["staff"] == "admin"
    assert named.meanings["readers"] == "judgement"


def test_a_map_to_nothing_of_ours_is_refused():
    with pytest.raises(SettingError, match="FABULA_OIDC_MAP"):
        read_settings(LAB | {"FABULA_OIDC_MAP": "staff=king"})
