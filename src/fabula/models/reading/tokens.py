"""Texts as numbers of tokens, with where they stand in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from fabula.core.model import Span, TokenCount

T = TypeVar("T")


@dataclass(frozen=True)
class TokenisedText:
    """A text's tokens, without those that a model adds."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Ends:
    """What a tokeniser puts before and after a text."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def tokenise(tokenizer: Any, texts: Sequence[str]) -> list[TokenisedText]:
    """Cut texts into tokens; nothing is cut off."""
    if not texts:
        return []
    encoding = tokenizer(
        [replace_surrogates(text) for text in texts],
        add_special_tokens=False,
        return_offsets_mapping=True,
        return_attention_mask=False,
        return_token_type_ids=False,
        truncation=False,
        verbose=False,
    )
    return [
        TokenisedText(
            tuple(ids),
            tuple(tokenizer.convert_ids_to_tokens(ids)),
            tuple((start, stop) for start, stop in offsets),
        )
        for ids, offsets in zip(encoding["input_ids"], encoding["offset_mapping"], strict=True)
    ]


# What SentencePiece puts for a blank: by itself it stands for no part of a text.
_BLANK = "\u2581"


def count_unknown(tokenizer: Any, texts: Sequence[str]) -> list[TokenCount]:
    """Count the tokens of texts and those that a tokeniser of transformers has no other sign for.

    Byte-level tokenisers know all; some name the sign between texts as that of the unknown.
    """
    unknown = tokenizer.unk_token_id
    if unknown is None or unknown in (tokenizer.bos_token_id, tokenizer.eos_token_id):
        return [TokenCount(0, 0)] * len(texts)
    return [count_ids(text.ids, text.tokens, unknown) for text in tokenise(tokenizer, texts)]


def count_ids(ids: Sequence[int], tokens: Sequence[str], unknown: int | None) -> TokenCount:
    """Count tokens that stand for a part of the text, and those with the sign of the unknown."""
    blanks = tokens.count(_BLANK)
    return TokenCount(len(tokens) - blanks, 0 if unknown is None else ids.count(unknown))


def truncate_texts(texts: Sequence[str], spans: Iterable[Sequence[Span]], room: int) -> list[str]:
    """Give the beginnings of texts that make so many tokens, of those that make more."""
    return [
        text if len(places) <= room else text[: places[room - 1][1]]
        for text, places in zip(texts, spans, strict=True)
    ]


def find_ends(tokenizer: Any) -> Ends:
    """Find what the tokeniser adds, by letting it add to a text that it knows."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a", add_special_tokens=True)["input_ids"]
    at = next(
        (at for at in range(len(whole) - len(bare) + 1) if whole[at : at + len(bare)] == bare), 0
    )
    return Ends(tuple(whole[:at]), tuple(whole[at + len(bare) :]))


def replace_surrogates(text: str) -> str:
    """Put `?` for halves of surrogate pairs, which UTF-8 cannot spell; lengths stay."""
    return text.encode("utf-8", "replace").decode("utf-8")


def split_chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    """Go through items so many at a time."""
    remaining = iter(items)
    while chunk := list(islice(remaining, size)):
        yield chunk


def find_beginning(tokenizer: Any) -> tuple[int, ...]:
    """Find what stands before a text that is written on: the tokeniser's own, or a known sign.

    Of the latter, that of a beginning, else the one between texts.
    """
    signs = (tokenizer.bos_token_id, tokenizer.eos_token_id)
    known = next((sign for sign in signs if sign is not None), None)
    return find_ends(tokenizer).before or (() if known is None else (known,))
