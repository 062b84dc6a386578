"""Plan-and-Write: a co-author that writes a line of plot words first, and then the story after it.

Yao et al. (2019). The line comes of what is shown (a title, a game) and, where a story has begun,
of the words that it holds so far, so that the plan goes on from there. Whoever has a plan of their
own gives it as a segment of the kind `plan`. What was planned is told beside what the model saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.authors.huggingface import Dtype, find_checkpoint
from fabula.authors.sampling.author import (
    Count,
    Megabytes,
    SampledAuthor,
    SamplingSettings,
    Tokens,
)
from fabula.authors.sampling.loop import Prompt
from fabula.core.author import Piece, Request, SeenSegment, Wanted
from fabula.core.errors import SettingError
from fabula.core.plain import read_json
from fabula.text.plots import MOST_WORDS, begin_plot, extract_plot, read_plot, render_plot

if TYPE_CHECKING:
    from fabula.models.networks.checkpoint import Checkpoint

# Packages that must be there, as pip names them.
REQUIRES = ("torch>=2.4", "transformers>=4.45", "safetensors>=0.4", "huggingface_hub>=0.24")

PLAN = "plan"
# Tokens that a plan takes at most, beside the context, and the words and signs in which a line
# that does not end is cut off.
_ROOM = 64
_LINE = Wanted("words", count=3 * MOST_WORDS)
_REVISION = 1


def load(
    name: str,
    *,
    dtype: Dtype = "fp32",
    device: str = "auto",
    revision: str | None = None,
    threads: Count | None = None,
    window: Tokens = 999,
    batch: Count = 8,
    cache_mb: Megabytes = 1024,
) -> PlanningAuthor:
    """Take a model that `fabula train author --plan` has written, by its folder or name.

    `window` is how many tokens of a context are shown, `batch` how many texts are written at once,
    `cache_mb` the memory for what was read of stories, `threads` those of the whole process.
    """
    return PlanningAuthor(
        partial(_find_planner, name, dtype, device, revision),
        SamplingSettings(window, batch, cache_mb, threads),
    )


def _find_planner(name: str, dtype: Dtype, device: str, revision: str | None) -> Checkpoint:
    """Where the weights lie; those that a training of ours has left must have learned to plan."""
    checkpoint = find_checkpoint(name, dtype, device, revision)
    record = Path(name).expanduser() / "training.json"
    if record.is_file():
        value = read_json(record, remedy="train it again, or name another folder")
        recipe = value.get("recipe") if isinstance(value, Mapping) else None
        if not isinstance(recipe, Mapping) or not recipe.get("plan"):
            raise SettingError(
                f"{name} has not learned to plan",
                f"train one with fabula train author --plan, or take huggingface({name!r})",
            )
    return checkpoint


@dataclass(eq=False)
class PlanningAuthor(SampledAuthor):
    """Plans every request by a line of plot words, and shows it between context and text."""

    # Of requests that are being written: the words of their plans.
    _plans: dict[str, list[str]] = field(default_factory=dict, repr=False)

    @property
    def signature(self) -> str:
        """That of the model, and how it plans."""
        return f"{super().signature},plan={_REVISION}"

    def generate(self, requests: Sequence[Request]) -> Iterator[Piece]:
        """Plan and write for all requests, `batch` of them side by side."""
        size = self.settings.batch
        for start in range(0, len(requests), size):
            part, planned = requests[start : start + size], []
            for request, plan in zip(part, self._plan(part), strict=True):
                if isinstance(plan, Piece):
                    yield plan
                else:
                    self._plans[request.id] = plan
                    planned.append(request)
            try:
                yield from super().generate(planned)
            finally:
                self._plans.clear()

    def _plan(self, requests: Sequence[Request]) -> list[list[str] | Piece]:
        """Give the plan of each request, or the piece that it ends with instead."""
        lines = {request.id: "" for request in requests}
        ends: dict[str, Piece] = {}
        asked = [self._ask_plan(request, lines) for request in requests if not _find_given(request)]
        for piece in super().generate(asked):
            lines[piece.id] = piece.text if piece.replaces else lines[piece.id] + piece.text
            if piece.status:
                ends[piece.id] = piece
        return [
            _find_given(request) or self._end_plan(request, lines[request.id], ends[request.id])
            for request in requests
        ]

    def _ask_plan(self, request: Request, lines: dict[str, str]) -> Request:
        """Ask for the line of a request; it is at its end with the first line break."""

        def is_over() -> bool:
            return "\n" in lines[request.id].lstrip(" ") or request.is_cancelled()

        known = extract_plot(request.context.text)
        return replace(
            request,
            context=replace(request.context, text=f"{begin_plot(known)}{' #' if known else ''}"),
            wanted=_LINE,
            # The sign between words comes again and again, as it should.
            decoding=replace(request.decoding, penalty=1.0, max_sentences=0, filter=False),
            is_cancelled=is_over,
        )

    def _end_plan(self, request: Request, line: str, end: Piece) -> list[str] | Piece:
        if end.status == "failed" or request.is_cancelled():
            return replace(end, text="", replaces=False)
        known = extract_plot(request.context.text)
        # One that plans nothing more writes as it has begun.
        return [*known, *read_plot(line)][: 2 * MOST_WORDS]

    def _room(self, checkpoint: Checkpoint, wanted: int) -> int:
        return super()._room(checkpoint, wanted) - _ROOM

    def _make_prompt(self, request: Request) -> Prompt:
        others = tuple(each for each in request.context.segments if each.kind != PLAN)
        bare = replace(request, context=replace(request.context, segments=others))
        plan = self._plans.get(request.id)
        line = self._encode(render_plot(plan)) if plan else []
        if not line:
            return super()._make_prompt(bare)
        text = bare.context.text.rstrip(" ")
        packed = self._pack(replace(bare.context, text=text), request.wanted)
        shown = SeenSegment(PLAN, ", ".join(plan or ()), len(line), len(line))
        return Prompt(
            (*self._encode_blocks(packed.blocks), *line, *packed.ids[-1]),
            (*packed.seen[:-1], shown, packed.seen[-1]),
            is_begun=text != bare.context.text or not text,
        )


def _find_given(request: Request) -> list[str]:
    """Give the words of a plan that was given with the context."""
    given = [each.text for each in request.context.segments if each.kind == PLAN]
    return read_plot(given[0]) if given else []
