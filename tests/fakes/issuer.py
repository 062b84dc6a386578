"""An OpenID provider on this machine: real keys, real redirects, and lies when asked for."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID, CLIENT_SECRET = "studio", "between us"


@cache
def make_key(label: str) -> RSAKey:
    """A key of one's own, made once a process; `label` tells keys of the same id apart."""
    return RSAKey.generate_key(2048, {"kid": label.partition(" ")[0]})


@dataclass
class Issuer:
    """What the provider says; tests change it."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: make_key("first"))
    # What signs; another than `key` is a forger's.
    signing_key: RSAKey | None = None
    algorithm: str = "RS256"
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def reset(self) -> None:
        """Mean well again, and remember nothing."""
        vars(self).update(vars(Issuer(self.url)))

    def grant(self, query: dict[str, str]) -> str:
        """Let the person in who stands at the door, and send them back with a code."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        answer = urlencode({"code": code, "state": query["state"]})
        return f"{query['redirect_uri']}?{answer}"

    def redeem(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """Give tokens for a code, once, to the client whose browser brought it."""
        query = self.codes.pop(form.get("code", ""), None)
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        is_known = query is not None and authorization == f"Basic {expected}"
        if not is_known or query["code_challenge"] != challenge:
            return None
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": "subject-1",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": query["nonce"],
            "email": "fay@example.org",
            "email_verified": True,
            "name": "Fay",
        } | self.claims
        key = self.signing_key or self.key
        header = {"alg": self.algorithm, "kid": key.kid}
        token = jwt.encode(header, claims, key, algorithms=[self.algorithm])
        return {"access_token": "x", "token_type": "Bearer", "id_token": token}

    def describe(self) -> dict[str, Any]:
        """What a provider says of itself."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
        }


class _Handler(BaseHTTPRequestHandler):
    issuer: Issuer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.issuer.asked.append(parts.path)
        if parts.path == "/.well-known/openid-configuration":
            self._answer(200, self.issuer.describe())
        elif parts.path == "/keys":
            self._answer(200, {"keys": [self.issuer.key.as_dict(private=False)]})
        elif parts.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.send_response(303)
            self.send_header("Location", self.issuer.grant(query))
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(data).items()}
        tokens = self.issuer.redeem(form, self.headers.get("Authorization", ""))
        self._answer(200, tokens) if tokens else self._answer(400, {"error": "invalid_grant"})

    def _answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextmanager
def serve_issuer() -> Iterator[Issuer]:
    """Have a provider for as long as this lasts."""
    issuer = Issuer()
    handler = type("Handler", (_Handler,), {"issuer": issuer})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
