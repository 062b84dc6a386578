"""STORIUM's co-author: a model of one's own training that is told what its context is made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fabula.authors.sampling.author import (
    Count,
    Megabytes,
    SampledAuthor,
    SamplingSettings,
    Tokens,
)
from fabula.authors.sampling.loop import Prompt
from fabula.authors.sampling.rules import estimate_tokens
from fabula.core.author import Context, Request
from fabula.core.errors import InputError, SettingError
from fabula.text.context.leaves import TEXT_MARKS, LaidOut, LeafSigns, lay_out
from fabula.text.context.packing import PACKINGS
from fabula.text.context.segments import find_entry_share, storium_context

if TYPE_CHECKING:
    from fabula.models.networks.checkpoint import Checkpoint
    from fabula.models.networks.segmented import MarkCounts, SegmentScheme

# Packages that must be there, as pip names them.
REQUIRES = ("torch>=2.4", "transformers>=4.45", "safetensors>=0.4", "tokenizers>=0.20")

Dtype = Literal["fp32", "bf16", "fp16"]
# Tokens that are asked for at once, by which a context is shorter than in training.
_RATE = 25
# The text may grow by so many tokens before segments give way: what was read stays read.
_GROWTH = 64


def load(
    folder: str,
    *,
    dtype: Dtype = "fp32",
    device: str = "auto",
    threads: Count | None = None,
    window: Tokens | None = None,
    batch: Count = 8,
    cache_mb: Megabytes = 1024,
) -> StoriumAuthor:
    """Take the folder that `fabula train author --format storium` wrote.

    A game is shown as in training: packing, history and priorities are the folder's own. `window`
    is how many tokens of a context are shown (the budget of the training less 25), `batch` how
    many texts are written at once, `cache_mb` the memory for what was read of stories, `threads`
    those of the whole process.
    """
    from fabula.models.networks.segmented import read_scheme

    path = Path(folder).expanduser()
    if not path.is_dir():
        raise InputError(f"there is no folder {folder}", "name one that training has written")
    scheme = read_scheme(path)
    settings = SamplingSettings(window or scheme.budget - _RATE, batch, cache_mb, threads)
    return StoriumAuthor(partial(_find_checkpoint, path, dtype, device), settings, scheme=scheme)


def _find_checkpoint(folder: Path, dtype: Dtype, device: str) -> Checkpoint:
    from fabula.models.huggingface import find_checkpoint

    return replace(find_checkpoint(str(folder), dtype=dtype, device=device), backend="storium")


@dataclass(eq=False)
class StoriumAuthor(SampledAuthor):
    """Lays a game out as leaves and draws what follows; each token is told what it belongs to.

    The number of a token is its own plus the vocabulary's size times that of its combination of
    marks; that of the text is 0, so that what is drawn belongs to the text.
    """

    scheme: SegmentScheme = field(kw_only=True)

    @cached_property
    def _marks(self) -> MarkCounts:
        from fabula.models.networks.segmented import MarkCounts

        return MarkCounts([TEXT_MARKS])

    @cached_property
    def _signs(self) -> LeafSigns:
        from fabula.models.networks.segmented import find_marks
        from fabula.models.reading.tokens import find_beginning

        tokenizer = self.checkpoint.tokenizer
        missing, separator, *_ = find_marks(tokenizer, compat=self.scheme.compat)
        return LeafSigns(find_beginning(tokenizer), separator, missing)

    def _open_decoder(self, net: Any) -> Any:
        from fabula.models.networks.decoder import open_decoder
        from fabula.models.networks.segmented import open_embedding

        checkpoint = self.checkpoint
        embed = open_embedding(checkpoint.folder, net, checkpoint.tokenizer, self._marks)
        return open_decoder(checkpoint, self._places(checkpoint), net=net, embed=embed)

    def _make_prompt(self, request: Request) -> Prompt:
        bare = request.context.text.rstrip(" ")
        context = self._show(replace(request.context, text=bare))
        wanted = estimate_tokens(request.wanted, request.wanted.count)
        laid = self._fit(context, self._room(self.checkpoint, wanted))
        size = len(self.checkpoint.tokenizer)
        ids = [
            token + size * self._marks.number(leaf.marks)
            for leaf in laid.leaves
            for token in leaf.ids
        ]
        return Prompt(tuple(ids), laid.seen, is_begun=bare != request.context.text or not bare)

    def _show(self, context: Context) -> Context:
        """Show a game as in training, where it is there in full; else what was chosen of it."""
        if not context.game or not context.entry:
            return context
        scheme = self.scheme
        return replace(
            storium_context(
                context.game, context.entry, story=context.story, history=scheme.history,
                scene=context.scene, compat=scheme.compat, strongest=scheme.strongest,
            ),
            text=context.text,
        )  # fmt: skip

    def _fit(self, context: Context, room: int) -> LaidOut:
        laid = self._lay_out(context, room)
        if all(segment.tokens == segment.available for segment in laid.seen):
            return laid
        grown = -len(self._encode(context.text)) % _GROWTH
        return self._lay_out(context, max(room - grown, room // 2))

    def _lay_out(self, context: Context, room: int) -> LaidOut:
        scheme = self.scheme
        if scheme.compat and room < len(context.segments) + 1:
            raise SettingError("the window is too small for this game", "take a larger window")
        return lay_out(
            context, self._signs, self._encode, self._decode, room,
            packing=PACKINGS[scheme.packing], compat=scheme.compat,
            entry=find_entry_share(scheme.strongest),
        )  # fmt: skip
