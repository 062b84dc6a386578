"""Sign-in at a lab's own OpenID Connect provider: code flow with PKCE, state and nonce.

What has to be known again when the person comes back lies in a cookie of theirs for ten minutes,
so that any process can take them in. Nothing of this is there unless an issuer is set.
"""

from __future__ import annotations

import base64
import json
import secrets
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from fabula.core.errors import InputError, NoCapacity, NotAllowed
from fabula.studio.people import ROLES
from fabula.web.settings import LOOPBACK_NAMES, SCOPES, OpenIdSettings

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

COOKIE_S = 600.0
_SCOPE = "openid email profile"
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
_TIMEOUT_S = 10.0
_KNOWN_FOR_S = 3600.0
# Clocks of two machines are not the same.
_LEEWAY_S = 60


@dataclass(frozen=True)
class Departure:
    """What a person took along to the provider, and where they were going."""

    state: str
    nonce: str
    verifier: str
    target: str = "/"

    def seal(self) -> str:
        """Spell it for a cookie."""
        plain = json.dumps([self.state, self.nonce, self.verifier, self.target])
        return base64.urlsafe_b64encode(plain.encode()).decode()


def read_departure(cookie: str) -> Departure:
    """Read what `seal` spelled."""
    try:
        words = json.loads(base64.urlsafe_b64decode(cookie.encode()))
        state, nonce, verifier, target = (str(word) for word in words)
    except (ValueError, TypeError):
        raise InputError("this sign-in was not begun here", "begin again") from None
    return Departure(state, nonce, verifier, target)


@dataclass(frozen=True)
class Arrival:
    """Whom the provider has let in, and what they may do here."""

    subject: str
    email: str | None
    display: str
    roles: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()


@dataclass
class Provider:
    """An OpenID Connect provider; what it says of itself is asked once an hour."""

    settings: OpenIdSettings
    _facts: dict[str, Any] = field(default_factory=dict)
    _keys: KeySet | None = None
    _asked_at: float = -_KNOWN_FOR_S
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # The machine's own list of authorities: a lab may have one that is in no other. Read once.
    _tls: ssl.SSLContext = field(default_factory=ssl.create_default_context)

    def depart(self, redirect_uri: str, target: str) -> tuple[str, Departure]:
        """Give the address to send a person to, and what to keep meanwhile."""
        departure = Departure(
            state=secrets.token_urlsafe(24),
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            target=keep_local(target),
        )
        with self._open_client(redirect_uri) as client:
            url, _ = client.create_authorization_url(
                self._read_facts()["authorization_endpoint"],
                state=departure.state,
                nonce=departure.nonce,
                code_verifier=departure.verifier,
            )
        return str(url), departure

    def arrive(self, redirect_uri: str, departure: Departure, answer: Mapping[str, str]) -> Arrival:
        """Check what a person brings back, and ask the provider who it is."""
        if not secrets.compare_digest(answer.get("state", "").encode(), departure.state.encode()):
            raise NotAllowed("this sign-in was not begun in this browser", "begin again")
        if problem := answer.get("error"):
            raise NotAllowed(f"the provider refused: {problem[:100]}", "begin again")
        facts = self._read_facts()
        from authlib.integrations.httpx_client import OAuthError

        try:
            with self._open_client(redirect_uri) as client:
                token = client.fetch_token(
                    facts["token_endpoint"],
                    code=answer.get("code", ""),
                    code_verifier=departure.verifier,
                )
        except (OAuthError, httpx.HTTPStatusError, ValueError):
            raise NotAllowed("the provider does not know this sign-in", "begin again") from None
        except httpx.HTTPError:
            raise NoCapacity("the provider does not answer", "try again soon") from None
        claims = self._read_claims(str(token.get("id_token", "")), departure.nonce)
        return self._read_arrival(claims)

    def find_exit(self) -> str | None:
        """Where the provider signs people out, if it says so."""
        found = self._read_facts().get("end_session_endpoint")
        return str(found) if found else None

    def _open_client(self, redirect_uri: str) -> OAuth2Client:
        # Not before somebody signs in elsewhere: it takes its time to be imported.
        from authlib.integrations.httpx_client import OAuth2Client

        return OAuth2Client(
            self.settings.client_id,
            self.settings.client_secret or None,
            scope=_SCOPE,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            token_endpoint_auth_method=(
                "client_secret_basic" if self.settings.client_secret else "none"
            ),
            timeout=_TIMEOUT_S,
            verify=self._tls,
        )

    def _read_facts(self) -> dict[str, Any]:
        with self._lock:
            if time.monotonic() - self._asked_at > _KNOWN_FOR_S:
                facts = self._get(f"{self.settings.issuer}/.well-known/openid-configuration")
                self._check_facts(facts)
                self._facts, self._keys = facts, None
                self._asked_at = time.monotonic()
            return self._facts

    def _check_facts(self, facts: Mapping[str, Any]) -> None:
        if facts.get("issuer", "").rstrip("/") != self.settings.issuer:
            raise NoCapacity("the provider calls itself by another name", "set FABULA_OIDC_ISSUER")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            parts = urlsplit(str(facts.get(name, "")))
            if parts.scheme != "https" and parts.hostname not in LOOPBACK_NAMES:
                raise NoCapacity(f"the provider names no {name} by https", "ask who runs it")

    def _read_keys(self, *, anew: bool = False) -> KeySet:
        facts = self._read_facts()
        with self._lock:
            if self._keys is None or anew:
                self._keys = KeySet.import_key_set(self._get(facts["jwks_uri"]))
            return self._keys

    def _get(self, url: str) -> Any:
        try:
            with httpx.Client(timeout=_TIMEOUT_S, verify=self._tls) as client:
                return client.get(url).raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            raise NoCapacity("the provider does not answer", "try again soon") from None

    def _read_claims(self, token: str, nonce: str) -> Mapping[str, Any]:
        """Check the identity token: signature, issuer, audience, time, nonce."""
        try:
            try:
                claims = jwt.decode(token, self._read_keys(), algorithms=_ALGORITHMS).claims
            except (JoseError, ValueError):
                # Keys are changed now and then: once more with those of now.
                keys = self._read_keys(anew=True)
                claims = jwt.decode(token, keys, algorithms=_ALGORITHMS).claims
            registry = jwt.JWTClaimsRegistry(
                leeway=_LEEWAY_S,
                iss={"essential": True, "values": self._spell_issuers()},
                sub={"essential": True},
                aud={"essential": True, "value": self.settings.client_id},
                exp={"essential": True},
                iat={"essential": True},
                nonce={"essential": True, "value": nonce},
            )
            registry.validate(claims)
        except (JoseError, ValueError):
            raise NotAllowed(
                "the provider's token is not for this sign-in", "begin again"
            ) from None
        parties = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if len(parties) > 1 and claims.get("azp") != self.settings.client_id:
            raise NotAllowed("the provider's token is for somebody else", "begin again")
        return claims

    def _spell_issuers(self) -> list[str]:
        return [self.settings.issuer, f"{self.settings.issuer}/"]

    def _read_arrival(self, claims: Mapping[str, Any]) -> Arrival:
        value: Any = claims
        for part in self.settings.claim_path:
            value = value.get(part) if isinstance(value, Mapping) else None
        words = value.split() if isinstance(value, str) else value
        given = [str(word) for word in words] if isinstance(words, list) else []
        meant = [self.settings.meanings[word] for word in given if word in self.settings.meanings]
        # An address that nobody has checked may be anybody's.
        email = claims.get("email") if claims.get("email_verified") is True else None
        return Arrival(
            subject=str(claims["sub"]),
            email=str(email) if email else None,
            display=str(claims.get("name") or claims.get("preferred_username") or ""),
            roles=tuple(word for word in ROLES if word in meant),
            scopes=tuple(word for word in SCOPES if word in meant),
        )


def keep_local(target: str) -> str:
    """A path here; whatever leads elsewhere leads to the front page."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if is_local and target.isprintable() and "\\" not in target else "/"
