"""A co-author behind STORIUM's model protocol: story snapshots, and figments asked for by range.

Any server of that protocol will do: STORIUM's own hosts of models, or `fabula author serve`. A text
grows chunk by chunk, each asked for with the text so far; the protocol knows neither seeds nor
decoding, and does not say what the model saw: here that is what was sent.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any
from urllib.parse import urlencode

from fabula.authors.context.ranges import count_units, format_wanted, next_range
from fabula.authors.serving.side_by_side import write_side_by_side
from fabula.core.author import Context, Piece, Request, SeenSegment, Unit, Wanted
from fabula.models.api import AtOnce, Seconds
from fabula.models.servers.http import Reply, Server, ServerError, check_address
from fabula.text.prompting import render_prompt

# Packages that must be there, as pip names them: none.
REQUIRES: tuple[str, ...] = ()

_KEPT_STORIES = 1024
_SAME_TEXT_TRIES = 3
# Of other units a chunk has as much as so many words have, roughly.
_CHUNK_SHARES = {"words": 1.0, "tokens": 1.0, "chars": 5.0, "sentences": 0.05}
_UNTOLD_WORDS = 250
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
# Every key that the format requires of an entry.
_ENTRY = {
    "user_pid": "fabula",
    "seq_id": 2,
    "format": "move",
    "pretty_format": "Move",
    "role": "character:1",
    "character_seq_id": 1,
    "created_at": "1970-1-1 0:00:00 UTC",
    "hand_context": {"pre": "unchanged", "post": "unchanged"},
    "challenge_cards": [],
    "cards_played_on_challenge": [],
    "cards_for_pickup": [],
    "autotexts": [],
    "author_is_narrator_when_published": False,
}


def load(
    url: str,
    *,
    chunk: AtOnce = 50,
    timeout_s: Seconds = 60.0,
    max_concurrent: AtOnce = 8,
) -> RemoteAuthor:
    """Take the co-author of a server; `chunk` is how many words are asked for at a time."""
    address = check_address(url, "remote")
    server = Server(address, "", "", timeout_s, 0, kind="a server of STORIUM's model protocol")
    return RemoteAuthor(server, chunk, max_concurrent)


@dataclass(eq=False)
class RemoteAuthor:
    """Sends stories, and asks for texts chunk by chunk."""

    server: Server
    chunk: int
    max_concurrent: int
    # Which version of a story the server has, as far as we know.
    _sent: OrderedDict[str, str] = field(default_factory=OrderedDict, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @property
    def signature(self) -> str:
        """A digest of the address; which model answers is for the server to know."""
        digest = hashlib.sha256(self.server.url.encode()).hexdigest()[:12]
        return f"remote,server={digest},chunk={self.chunk}"

    def startup(self) -> None:
        """Look whether the server can be reached; the protocol has no question for that."""
        self.server.need_reach()

    def shutdown(self) -> None:
        """Forget which stories were sent."""
        with self._lock:
            self._sent.clear()

    def preprocess(self, context: Context) -> None:
        """Send the story, unless the server has it as it is."""
        self.send_story(*_wrap_context(context)[:2])

    def generate(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """Write on for all requests, as many side by side as are allowed."""
        return write_side_by_side(
            requests, lambda request: _Figment(self, request), self.max_concurrent
        )

    def send_story(self, name: str, story: dict[str, Any], *, again: bool = False) -> None:
        """Send a snapshot of a story; `again`: also where it was sent before."""
        digest = hashlib.sha256(json.dumps(story, sort_keys=True).encode()).hexdigest()
        with self._lock:
            if self._sent.get(name) == digest and not again:
                self._sent.move_to_end(name)
                return
        reply = self.server.exchange("story/snapshot", {"story_id": name, "story": story})
        if reply.status == 406:
            raise self.server.error("the model can do nothing with this story", "try another")
        if not 200 <= reply.status < 300:
            raise _refuse(self.server, reply, "the story")
        with self._lock:
            self._sent[name] = digest
            while len(self._sent) > _KEPT_STORIES:
                self._sent.popitem(last=False)


class _Figment:
    """One text, chunk by chunk."""

    def __init__(self, author: RemoteAuthor, request: Request) -> None:
        self.author, self.context = author, request.context
        self.name, self.story, self.entry = _wrap_context(request.context)
        self.seen = tuple(_tell_sent(request.context))
        self.unit: Unit = request.wanted.unit
        self.most = _find_most(request.wanted, request.context.text)
        self.chunk = max(1, round(author.chunk * _CHUNK_SHARES[self.unit]))
        self.written = ""
        self._closed = Event()

    def close(self) -> None:
        """Ask for no more; of the chunk that is being written, nobody takes notice."""
        self._closed.set()

    def count_tokens(self) -> int:
        """The protocol counts none: these are what lies between blanks."""
        return len(self.written.split())

    def __iter__(self) -> Iterator[str]:
        """Ask for the next range until there is all, or the server says so."""
        before = self.context.text
        same = 0
        self.author.send_story(self.name, self.story)
        while not self._closed.is_set():
            text = before + self.written
            length = count_units(text, self.unit, keep_fragments=False)
            if length >= self.most:
                return
            (wanted,) = next_range(length, self.most, self.chunk, self.unit)
            reply = self._ask(text, wanted)
            fresh = self._read_text(reply, text)[len(text) :]
            self.written += fresh
            if fresh:
                yield fresh
            same = 0 if fresh.strip() else same + 1
            if same > _SAME_TEXT_TRIES or (reply.status == 200 and not self.written):
                raise self.author.server.error("the model wrote nothing", "ask again")
            if reply.status == 200:
                return

    def _ask(self, text: str, wanted: Wanted) -> Reply:
        """Ask for a range; a server that has lost the story is sent it again, once."""
        query = urlencode({"suggestion_type": "scene_entry"})
        path, headers = f"figment/{self.name}/new?{query}", {"Range": format_wanted(wanted)}
        server, entry = self.author.server, self.entry | {"description": text}
        reply = server.exchange(path, entry, headers)
        if reply.status == 404:
            self.author.send_story(self.name, self.story, again=True)
            reply = server.exchange(path, entry, headers)
        if reply.status in (200, 206):
            return reply
        if reply.status == 416:
            raise server.error(f"the server does not take the range {headers['Range']}", "")
        raise _refuse(server, reply, "the text")

    def _read_text(self, reply: Reply, text: str) -> str:
        """The text of an entry that came back; what was there must still stand there."""
        try:
            entry = json.loads(reply.body)
        except ValueError:
            entry = None
        found = entry.get("description") if isinstance(entry, dict) else None
        server = self.author.server
        if not isinstance(found, str):
            raise server.error("the answer is no entry", f"is it {server.kind}?")
        if not found.startswith(text):
            raise server.error("the server changed the text that it was to go on with", "")
        return found


def _refuse(server: Server, reply: Reply, what: str) -> ServerError:
    return server.error(f"{what} was refused: the server says {reply.status}: {reply.message}", "")


def _find_most(wanted: Wanted, text: str) -> int:
    """How many units the whole text may have."""
    if wanted.stop is not None:
        return wanted.stop + 1
    length = count_units(text, wanted.unit, keep_fragments=False)
    untold = max(1, round(_UNTOLD_WORDS * _CHUNK_SHARES[wanted.unit]))
    return length + (untold if wanted.count is None else wanted.count)


def _wrap_context(context: Context) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The name of a story, the story and the entry; a context that has none is put into one: what
    is told opens a scene, and the text is the move after it."""
    name = context.story
    if not _PLAIN_ID.fullmatch(name):
        name = hashlib.sha256(name.encode()).hexdigest()[:32]
    if context.game is not None:
        # Before anybody writes in it a game has no entry yet, and is sent as it is.
        return name, dict(context.game), dict(_ENTRY if context.entry is None else context.entry)
    told = render_prompt([(each.title, each.text) for each in context.segments], tag="").strip()
    opening = _ENTRY | {
        "seq_id": 1,
        "format": "establishment",
        "pretty_format": "Establishment",
        "role": "narrator",
        "character_seq_id": None,
        "description": told,
        "author_is_narrator_when_published": True,
    }
    story = {
        "game_pid": name,
        "exported_at": _ENTRY["created_at"],
        "characters": [{"character_seq_id": 1, "name": "", "description": ""}],
        "scenes": [{"entries": [opening]}],
        "cards": [],
    }
    return name, story, dict(_ENTRY)


def _tell_sent(context: Context) -> Iterator[SeenSegment]:
    """What a model can have seen at most: all that was sent, in tokens between blanks."""
    told = [(each.kind, each.text, each.title) for each in context.segments]
    for kind, text, title in [*told, ("entry", context.text, "")]:
        count = len(text.split())
        yield SeenSegment(kind, text, count, count, title)
