"""Secrets: how they are made, and what of them is kept.

A password is short and people choose it: it is kept as an argon2 hash, which is slow to guess.
What we make ourselves has 256 random bits: a plain SHA-256 of it is enough.
"""

from __future__ import annotations

import secrets
import threading
import unicodedata
from functools import lru_cache
from hashlib import sha256

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from fabula.core.errors import InputError

FEWEST_CHARACTERS, MOST_CHARACTERS = 10, 1000
# RFC 9106's second choice: 64 MiB and three passes.
hasher = PasswordHasher()
# Many who sign in at once must not take all memory.
_AT_ONCE = threading.BoundedSemaphore(4)


def make_secret(prefix: str = "") -> str:
    """Make a secret that nobody can guess."""
    return prefix + secrets.token_urlsafe(32)


def digest_secret(secret: str) -> str:
    """Give what is kept of a secret of ours."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def hash_new_password(password: str, name: str) -> str:
    """Give what is kept of a password that somebody chose; refuse one that is too easy."""
    if not FEWEST_CHARACTERS <= len(password) <= MOST_CHARACTERS:
        raise InputError(
            f"a password has {FEWEST_CHARACTERS} to {MOST_CHARACTERS:,} characters, "
            f"and this one {len(password)}",
            "three or four words that do not belong together are good",
        )
    if len(set(password)) < 4 or password.casefold() == name.casefold():
        raise InputError("this password is too easy to guess", "choose another")
    return hash_password(password)


def hash_password(password: str) -> str:
    """Give what is kept of a password."""
    with _AT_ONCE:
        return hasher.hash(_normalise(password))


def check_password(password: str, kept: str | None) -> bool:
    """Tell whether this is the password; takes as long where there is none to compare with."""
    # What nobody can have chosen is not worth the time, and is refused whoever is named.
    if len(password) > MOST_CHARACTERS:
        return False
    with _AT_ONCE:
        try:
            return hasher.verify(kept or _make_dummy(hasher), _normalise(password)) and bool(kept)
        except (VerificationError, InvalidHashError):
            return False


def is_outdated(kept: str) -> bool:
    """Whether a hash was made with other parameters than those in use."""
    return hasher.check_needs_rehash(kept)


def _normalise(password: str) -> str:
    """Let the same letters be the same password, whichever keyboard composed them."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode()


@lru_cache(maxsize=4)
def _make_dummy(maker: PasswordHasher) -> str:
    return maker.hash(make_secret())
