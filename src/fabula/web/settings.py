"""What can be set about the studio's web process, by the environment.

| variable | is |
|---|---|
| `FABULA_PUBLIC_URL` | where people find the studio: `https://studio.example.org` |
| `FABULA_HOSTS` | further names it answers to, by commas; `*` is any |
| `FABULA_TRUSTED_PROXIES` | addresses or networks whose `X-Forwarded-*` are believed |
| `FABULA_MAX_BODY`, `FABULA_MAX_INFLATED` | bytes of a request, and of one that was compressed |
| `FABULA_RATE_ADDRESS`, `_PERSON`, `_SIGN_IN` | requests: `100/s`, `10/min`, `off` |
| `FABULA_LOCAL` | `1`: one person, without a password, on this machine alone |
| `FABULA_SIGN_UP` | `invite`: people come by links; `open`: anybody becomes an author |
| `FABULA_RATE_REVIEW` | stories that a person, or a stranger's address, may have read |
| `FABULA_REVIEW` | who may have a story reviewed: `signed-in` or `open`, that is anybody |
| `FABULA_REVIEW_WEIGHTS`, `_ORDER` | the reader's weights, as `fabula review` takes them |
| `FABULA_OIDC_ISSUER`, `_CLIENT_ID`, `_CLIENT_SECRET` | where people sign in elsewhere |
| `FABULA_OIDC_CLAIM` | the claim that lists roles and scopes, by dots |
| `FABULA_OIDC_MAP` | what its values mean here: `staff=researcher, readers=judgement` |
| `FABULA_STORIUM_SECRET` | what a platform shows at STORIUM's door as `token`; none: tokens only |
| `FABULA_STORIUM_REQUIRED` | feedback that has to be given there: `fluency, comments` |
| `FABULA_STORIUM_DATASET` | the file that `/api/storium/data/download` gives |
| `FABULA_PUBLIC_DASHBOARD` | `on`: figures and ten edits are shown to who is not signed in |
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from fabula.core.errors import SettingError, closest
from fabula.studio.people import ROLES
from fabula.studio.storium_feedback import FEEDBACK_TYPES

# Set by `fabula serve --local` for the processes it starts.
LOCAL_VARIABLE = "FABULA_LOCAL"
_FOR_OTHERS = (
    "FABULA_PUBLIC_URL",
    "FABULA_HOSTS",
    "FABULA_TRUSTED_PROXIES",
    "FABULA_OIDC_ISSUER",
    "FABULA_SIGN_UP",
)
SCOPES = ("dataset", "judgement", "user_edits")
_SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}
MIB = 1024 * 1024
# A secret that is shown to a door that anybody may knock at.
_SHORTEST_SECRET = 16


@dataclass(frozen=True)
class Rate:
    """So many requests in so many seconds; as many may come at once. 0 is without limit."""

    count: float
    seconds: float = 1.0


@dataclass(frozen=True)
class OpenIdSettings:
    """Where people sign in elsewhere, and what is made of what it says of them."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False, default="")
    claim: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)

    @property
    def managed_roles(self) -> tuple[str, ...]:
        """Roles that the provider gives and takes; all others an admin gives here."""
        return tuple(role for role in ROLES if role in self.meanings.values())

    @property
    def claim_path(self) -> list[str]:
        """Where in the claims the list is: by default the client's roles, as Keycloak has them."""
        return self.claim.split(".") if self.claim else ["resource_access", self.client_id, "roles"]


@dataclass(frozen=True)
class StoriumSettings:
    """STORIUM's door: the secret of the platform, what feedback it has to give, and the data set
    that is given to who has the scope."""

    secret: str = field(repr=False, default="")
    required: tuple[str, ...] = ()
    dataset: Path | None = None


@dataclass(frozen=True)
class ReviewSettings:
    """The review page: whether strangers may use it, how often, and the weights that read."""

    is_open: bool = False
    rate: Rate = Rate(60, 3600)
    weights: str = "reader"
    order: str = "order"


@dataclass(frozen=True)
class Settings:
    """All that can be set; the defaults are for one's own machine."""

    public_url: str = ""
    hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    max_body: int = 4 * MIB
    max_inflated: int = 32 * MIB
    rate_address: Rate = Rate(200)
    rate_person: Rate = Rate(50)
    rate_sign_in: Rate = Rate(30, 60)
    body_within_s: float = 30.0
    is_local: bool = False
    sign_up: str = "invite"
    open_id: OpenIdSettings | None = None
    storium: StoriumSettings = field(default_factory=StoriumSettings)
    review: ReviewSettings = field(default_factory=ReviewSettings)
    public_dashboard: bool = False


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the settings out of the environment; a bad one is named."""
    given = os.environ if environment is None else environment
    plain = Settings()
    is_local = _read_choice(given, LOCAL_VARIABLE, ("0", "1")) == "1"
    for name in _FOR_OTHERS if is_local else ():
        if given.get(name, "").strip():
            raise SettingError(
                f"{name} is set, which is for studios that others reach",
                "unset it, or leave --local out",
            )
    return Settings(
        public_url=_read_url(given, "FABULA_PUBLIC_URL"),
        hosts=_read_list(given, "FABULA_HOSTS"),
        proxies=_read_list(given, "FABULA_TRUSTED_PROXIES"),
        max_body=_read_bytes(given, "FABULA_MAX_BODY", plain.max_body),
        max_inflated=_read_bytes(given, "FABULA_MAX_INFLATED", plain.max_inflated),
        rate_address=_read_rate(given, "FABULA_RATE_ADDRESS", plain.rate_address),
        rate_person=_read_rate(given, "FABULA_RATE_PERSON", plain.rate_person),
        rate_sign_in=_read_rate(given, "FABULA_RATE_SIGN_IN", plain.rate_sign_in),
        is_local=is_local,
        sign_up=_read_choice(given, "FABULA_SIGN_UP", ("invite", "open")),
        open_id=_read_open_id(given),
        storium=_read_storium(given),
        review=_read_review(given),
        public_dashboard=_read_choice(given, "FABULA_PUBLIC_DASHBOARD", ("off", "on")) == "on",
    )


def _read_list(given: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(word for part in given.get(name, "").split(",") if (word := part.strip()))


def _read_url(given: Mapping[str, str], name: str) -> str:
    url = given.get(name, "").strip().rstrip("/")
    if not url:
        return ""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise SettingError(f"{name} is no address: {url!r}", "write https://HOST")
    return url


def _read_bytes(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, "").strip()
    if not text:
        return default
    if not re.fullmatch(r"[1-9][0-9]{0,11}", text):
        raise SettingError(f"{name} is no number of bytes: {text!r}", f"write such as {default}")
    return int(text)


def _read_rate(given: Mapping[str, str], name: str, default: Rate) -> Rate:
    text = given.get(name, "").strip()
    if not text:
        return default
    if text == "off":
        return Rate(0)
    match = re.fullmatch(r"([1-9][0-9]{0,8})/(s|min|h)", text)
    if match is None:
        raise SettingError(f"{name} is no rate: {text!r}", "write such as 100/s, 10/min or off")
    return Rate(float(match[1]), _SECONDS[match[2]])


def _read_choice(given: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """One of some words, the first where nothing is said."""
    text = given.get(name, "").strip() or choices[0]
    if text not in choices:
        raise SettingError(f"{name} is {text!r}", f"write {' or '.join(choices)}")
    return text


def _read_review(given: Mapping[str, str]) -> ReviewSettings:
    who = given.get("FABULA_REVIEW", "").strip() or "signed-in"
    if who not in ("signed-in", "open"):
        raise SettingError(f"FABULA_REVIEW is {who!r}", "write signed-in or open")
    plain = ReviewSettings()
    return ReviewSettings(
        is_open=who == "open",
        rate=_read_rate(given, "FABULA_RATE_REVIEW", plain.rate),
        weights=given.get("FABULA_REVIEW_WEIGHTS", "").strip() or plain.weights,
        order=given.get("FABULA_REVIEW_ORDER", "").strip() or plain.order,
    )


def _read_open_id(given: Mapping[str, str]) -> OpenIdSettings | None:
    issuer = _read_url(given, "FABULA_OIDC_ISSUER")
    if not issuer:
        return None
    client_id = given.get("FABULA_OIDC_CLIENT_ID", "").strip()
    if not client_id:
        raise SettingError(
            "FABULA_OIDC_ISSUER is set without FABULA_OIDC_CLIENT_ID", "set both, or neither"
        )
    if urlsplit(issuer).scheme != "https" and urlsplit(issuer).hostname not in LOOPBACK_NAMES:
        raise SettingError("FABULA_OIDC_ISSUER is not https", "sign-in needs https")
    return OpenIdSettings(
        issuer=issuer,
        client_id=client_id,
        client_secret=given.get("FABULA_OIDC_CLIENT_SECRET", "").strip(),
        claim=given.get("FABULA_OIDC_CLAIM", "").strip(),
        meanings=_read_meanings(given),
    )


def _read_storium(given: Mapping[str, str]) -> StoriumSettings:
    secret = given.get("FABULA_STORIUM_SECRET", "").strip()
    if secret and len(secret) < _SHORTEST_SECRET:
        raise SettingError(
            f"FABULA_STORIUM_SECRET has {len(secret)} characters",
            f"take {_SHORTEST_SECRET} or more, drawn at random",
        )
    required = _read_list(given, "FABULA_STORIUM_REQUIRED")
    for name in required:
        if name not in FEEDBACK_TYPES:
            raise SettingError(
                f"FABULA_STORIUM_REQUIRED has {name!r}", closest(name, FEEDBACK_TYPES)
            )
    dataset = given.get("FABULA_STORIUM_DATASET", "").strip()
    return StoriumSettings(secret, required, Path(dataset) if dataset else None)


def _read_meanings(given: Mapping[str, str]) -> dict[str, str]:
    """What values of the claim mean. Scopes mean themselves; roles have to be named: nobody is a
    researcher or an admin by chance."""
    meanings = {scope: scope for scope in SCOPES}
    for pair in _read_list(given, "FABULA_OIDC_MAP"):
        theirs, _, ours = (part.strip() for part in pair.partition("="))
        if not theirs or ours not in (*ROLES, *SCOPES):
            raise SettingError(
                f"FABULA_OIDC_MAP has {pair!r}",
                f"write THEIRS=OURS, ours being one of {', '.join((*ROLES, *SCOPES))}",
            )
        meanings[theirs] = ours
    return meanings


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
