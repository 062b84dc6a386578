"""What a machine co-author is: four methods, and the values that pass through them.

`startup` loads, `preprocess` gets ready for a story (its answer is what the model keeps of it and
may be had again), `generate` writes on for several requests at once, piece by piece, `shutdown`
frees everything. An author is used by one thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Unit = Literal["chars", "words", "tokens", "sentences"]
# What parts of a context may be marked by, for models that are told what each token belongs to:
# those of Akoury et al. (2020).
MARKS = (
    "missing", "separator", "character", "chartype", "goal", "person", "place", "thing",
    "strength", "weakness", "obstacle", "subplot", "name_field", "description", "failure_stakes",
    "success_stakes", "move", "establishment", "addition", "conclusion", "previous", "narrator",
    "same_character", "diff_character",
)  # fmt: skip


@dataclass(frozen=True)
class Segment:
    """A part of what a model is shown, with what it asks of the room there is.

    `kind` says what it is (`intro`, `character`, `challenge`, `strength`, `previous`, `prompt`,
    …). At least `minimum` tokens while they fit, `preferred` if there is room (None: all of it);
    the greater the `priority`, the later it gives way. What does not fit is cut at the other end
    than the one that is to `keep`. `marks` say more than the kind: how far back, and whose.
    """

    kind: str
    text: str
    title: str = ""
    minimum: int = 0
    preferred: int | None = None
    priority: int = 0
    keep: Literal["start", "end"] = "start"
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """What there is to write on from: segments, and the text before the cursor.

    `story` is the identity of what it belongs to, for what was preprocessed. `game` and `entry`
    are the same in STORIUM's JSON, for co-authors that speak it; `scene` is the place of the
    entry's scene among the game's, where the entry is new and not of the last one.
    """

    story: str
    segments: tuple[Segment, ...]
    text: str = ""
    game: Mapping[str, Any] | None = None
    entry: Mapping[str, Any] | None = None
    scene: int | None = None


@dataclass(frozen=True)
class Decoding:
    """How tokens are drawn. `penalty` divides what was written before, whatever its sign when
    `compat`; `filter` covers words of the list of profanities."""

    temperature: float = 0.9
    top_k: int = 40
    top_p: float = 0.9
    penalty: float = 1.2
    max_sentences: int = 4
    filter: bool = False
    compat: bool = False


@dataclass(frozen=True)
class Wanted:
    """How much is wanted: `words=0-249` has a start and a stop, `words=-50` is the next 50.

    `start` and `stop` are told from the beginning of the whole text, both inside the range, as in
    a header of HTTP; `count` from where the text ends. Nothing told: as much as there is.
    `authors/context/ranges.py` reads, counts and cuts.
    """

    unit: Unit = "words"
    start: int | None = None
    stop: int | None = None
    count: int | None = None


@dataclass(frozen=True)
class Request:
    """One text to be written on; `is_cancelled` is asked between tokens."""

    id: str
    context: Context
    wanted: Wanted = field(default_factory=Wanted)
    decoding: Decoding = field(default_factory=Decoding)
    seed: int = 0
    is_cancelled: Callable[[], bool] = lambda: False


@dataclass(frozen=True)
class SeenSegment:
    """A segment as the model saw it: how many of its tokens, and the text that was left."""

    kind: str
    text: str
    tokens: int
    available: int
    title: str = ""


@dataclass(frozen=True)
class Piece:
    """What was written since the piece before it. The last of a request has a `status`.

    `replaces`: the text so far gives way to this one (a fragment was dropped, a word covered).
    """

    id: str
    text: str
    status: Literal["", "done", "failed", "cancelled"] = ""
    replaces: bool = False
    problem: str = ""
    tokens: int = 0
    seen: tuple[SeenSegment, ...] = ()


@runtime_checkable
class Author(Protocol):
    """A machine co-author."""

    @property
    def signature(self) -> str:
        """What its texts depend on: co-author, model, revision or digest, format."""
        ...

    def startup(self) -> None:
        """Load what is needed; what is missing is a `UserError` now, not at the first text."""
        ...

    def shutdown(self) -> None:
        """Free everything. May be called twice."""
        ...

    def preprocess(self, context: Context) -> None:
        """Get ready for a story: keep what can be kept of its context, by its identity."""
        ...

    def generate(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """Write on for all requests side by side; every request ends with one piece that has a
        status, and one that fails does not take the others along."""
        ...
