"""Texts as numbers of tokens, with where they stand in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from fabula.core.model import Span

T = TypeVar("T")


@dataclass(frozen=True)
class Pieces:
    """A text's tokens, without those that a model adds."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Ends:
    """What a tokeniser puts before and after a text."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def pieces_of(tokenizer: Any, texts: Sequence[str]) -> list[Pieces]:
    """Cut texts into tokens; nothing is cut off."""
    if not texts:
        return []
    found = tokenizer(
        [spellable(text) for text in texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        truncation=False,
        verbose=False,
    )
    return [
        Pieces(
            tuple(ids),
            tuple(tokenizer.convert_ids_to_tokens(ids)),
            tuple((start, stop) for start, stop in offsets),
        )
        for ids, offsets in zip(found["input_ids"], found["offset_mapping"], strict=True)
    ]


def head_of(text: str, spans: Sequence[Span], room: int) -> str:
    """Give the beginning of a text that makes so many tokens, if it makes more."""
    return text if len(spans) <= room else text[: spans[room - 1][1]]


def ends_of(tokenizer: Any) -> Ends:
    """Find what the tokeniser adds, by letting it add to a text that it knows."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a", add_special_tokens=True)["input_ids"]
    at = next(
        (at for at in range(len(whole) - len(bare) + 1) if whole[at : at + len(bare)] == bare), 0
    )
    return Ends(tuple(whole[:at]), tuple(whole[at + len(bare) :]))


def spellable(text: str) -> str:
    """Put `?` for halves of surrogate pairs, which UTF-8 cannot spell; lengths stay."""
    return text.encode("utf-8", "replace").decode("utf-8")


def in_chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    """Go through items so many at a time."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk
