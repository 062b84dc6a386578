"""Texts as vectors: a BERT encoder that reads stories of any length, or windows, batch by batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.model import Span, TokenCount, TokenStates
from fabula.models._load import load_model
from fabula.models._runtime import package, refuse_broken
from fabula.models.networks.bert import Bert, Dtype
from fabula.models.reading.state_cache import LruCache, StateCache, vector_key
from fabula.models.reading.tokens import count_ids, truncate_texts
from fabula.models.reading.windows import assign_tokens, cut_overlapping, run_batches

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

    from fabula.core.model import Array

# What is read ahead of the caller: enough to find texts of about one length.
CHUNK_TEXTS = 256
CHUNK_TOKENS = 32_768
# The widest rows of so many tokens stay in the cache of a core (2048 × 1536 floats: 12 MB).
BATCH_TOKENS = 2048
# Texts whose tokens are remembered, for the next metric.
CACHED_TEXTS = 1024
SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Text:
    """A text as the model's tokens, those that it adds left out."""

    text: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    spans: tuple[Span, ...]

    @property
    def length(self) -> int:
        """Tokens with the one before and the one after them."""
        return len(self.ids) + 2


@dataclass(frozen=True)
class Piece:
    """A window on a text: the tokens it shows, and the rows that are taken from it."""

    number: int
    place: range
    rows: range  # of the text with the tokens that the model adds: token t is row t + 1

    @property
    def length(self) -> int:
        """Tokens the model reads for it."""
        return len(self.place) + 2


@dataclass(frozen=True)
class Edges:
    """The tokens that the model puts before and after every window."""

    ids: tuple[int, int]
    tokens: tuple[str, str]


@dataclass(frozen=True)
class Encoder:
    """Vectors of tokens and of texts, from overlapping windows.

    Each token's state comes from the window in which it is most central. What the model adds at
    the beginning and at the end is given once: from the first window, and from the last.
    """

    bert: Bert = field(repr=False)
    tokenizer: Tokenizer = field(repr=False)
    edges: Edges
    signature: str
    window: int
    overlap: int
    layer: int
    batch_tokens: int = BATCH_TOKENS
    cache: StateCache = field(default_factory=StateCache)
    tokenised: LruCache[Text] = field(
        default_factory=lambda: LruCache(CACHED_TEXTS), repr=False, compare=False
    )

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return self.bert.width

    @property
    def layers(self) -> int:
        """How many layers there are to choose from; layer 0 is the embedding of the words."""
        return len(self.bert.stack) + 1

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Give the tokens of every text, without those that the model adds."""
        return [self._tokenise(text).tokens for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""
        unknown = find_unknown(self.tokenizer)
        tokenised = [self._tokenise(text) for text in texts]
        return [count_ids(text.ids, text.tokens, unknown) for text in tokenised]

    def truncate(self, texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        return truncate_texts(texts, [self._tokenise(text).spans for text in texts], count - 2)

    def expect(self, layers: Sequence[int]) -> None:
        """Give these layers too in every pass: others will ask for them."""
        self.cache.expected = tuple(layer for layer in layers if 0 <= layer < self.layers)

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> Iterator[TokenStates]:
        """Give the states of every text, in order, at the layers asked for.

        A text without a token has no states, not even those of what the model adds.
        """
        for layer in layers:
            check_layer(layer, self.layers)
        return self._stream(texts, list(layers))

    def vectors(self, texts: Sequence[str]) -> Array:
        """Give one vector a text: the mean over all its tokens, of length one.

        The tokens that the model adds count, as in sentence-transformers, which this equals for
        texts of one window. A text without a token has no vector: its row is NaN.
        """
        pooled = np.full((len(texts), self.width), np.nan, np.float32)
        row = 0
        for chunk in self._chunks(texts):
            vectors = self._chunk_vectors(chunk)
            for text in chunk:
                if text.ids:
                    pooled[row] = vectors[text.text]
                row += 1
        return pooled

    def _stream(self, texts: Sequence[str], layers: list[int]) -> Iterator[TokenStates]:
        nothing = TokenStates((), (), np.zeros((len(layers), 0, self.width), np.float32))
        for chunk in self._chunks(texts):
            states = self._chunk_states([text for text in chunk if text.ids], layers)
            for text in chunk:
                yield self._to_token_states(text, states[text.text]) if text.ids else nothing

    def _to_token_states(self, text: Text, arrays: list[Array]) -> TokenStates:
        first, last = self.edges.tokens
        states = np.stack(arrays) if len(arrays) > 1 else arrays[0][None]  # (layers, tokens, width)
        return TokenStates((first, *text.tokens, last), ((0, 0), *text.spans, (0, 0)), states)

    def _chunks(self, texts: Iterable[str]) -> Iterator[list[Text]]:
        chunk: list[Text] = []
        size = 0
        for text in map(self._tokenise, texts):
            if chunk and (len(chunk) == CHUNK_TEXTS or size + text.length > CHUNK_TOKENS):
                yield chunk
                chunk, size = [], 0
            chunk.append(text)
            size += text.length
        if chunk:
            yield chunk

    def _tokenise(self, text: str) -> Text:
        """Give the text's tokens; those of the last texts are remembered."""
        if known := self.tokenised.find([text]):
            return known[text]
        # Half of a surrogate pair is no character; its stand-in keeps all others in their places.
        sound = SURROGATE.sub("\ufffd", text)
        encoding = self.tokenizer.encode(sound, add_special_tokens=False)
        tokenised = Text(text, tuple(encoding.ids), tuple(encoding.tokens), tuple(encoding.offsets))
        if tokenised.length <= CHUNK_TOKENS:
            self.tokenised.put({text: tokenised})
        return tokenised

    def _chunk_states(self, chunk: list[Text], layers: list[int]) -> dict[str, list[Array]]:
        """States by text, layer by layer: those that are kept, and the others made now."""
        texts = {text.text: text for text in chunk}

        def make(missing: list[str], wanted: list[int]) -> list[list[Array]]:
            return self._encode([texts[text] for text in missing], wanted)

        return self.cache.get(self.signature, texts, layers, make)

    def _chunk_vectors(self, chunk: list[Text]) -> dict[str, Array]:
        """Vectors by text; the states they are made from are too large to keep for them."""
        texts = [text for text in chunk if text.ids]
        keys = {text.text: self._key(text, f"mean of {self.layer}") for text in texts}
        known = self.cache.vectors.get(keys.values())
        unique = {text.text: text for text in texts if keys[text.text] not in known}
        missing = list(unique.values())
        states = zip(missing, self._encode(missing, [self.layer]), strict=True)
        known |= self.cache.vectors.put({keys[text.text]: _pool(rows) for text, (rows,) in states})
        return {text: known[key] for text, key in keys.items()}

    def _encode(self, texts: list[Text], layers: list[int]) -> list[list[Array]]:
        """Run the model: for each text and layer an array of tokens × width."""
        shapes = [(text.length, self.width) for text in texts]
        states = [[np.empty(shape, np.float32) for _ in layers] for shape in shapes]
        pieces = [
            piece for number, text in enumerate(texts) for piece in self._cut_pieces(number, text)
        ]

        def run(batch: list[int]) -> list[None]:
            windows = [pieces[index] for index in batch]
            rows = self.bert(
                [self._ids(window, texts[window.number]) for window in windows], layers
            )
            _scatter_rows(windows, [layer.float().numpy() for layer in rows], states)
            return [None] * len(batch)

        budget = self.bert.fit_batch(self.batch_tokens)
        run_batches(run, [piece.length for piece in pieces], budget=budget)
        return states

    def _cut_pieces(self, number: int, text: Text) -> list[Piece]:
        places = cut_overlapping(len(text.ids), self.window - 2, self.overlap)
        return [
            Piece(number, place, _rows_of(part, len(text.ids)))
            for place, part in zip(places, assign_tokens(places), strict=True)
        ]

    def _ids(self, piece: Piece, text: Text) -> list[int]:
        first, last = self.edges.ids
        return [first, *text.ids[piece.place.start : piece.place.stop], last]

    def _key(self, text: Text, what: str) -> str:
        return vector_key(self.signature, what, text.text)


@dataclass(frozen=True)
class PooledBert:
    """An encoder that gives the state of the first token and the mean over all, and no other."""

    bert: Bert = field(repr=False)
    tokenizer: Tokenizer = field(repr=False)
    edges: Edges
    batch_tokens: int = BATCH_TOKENS

    @property
    def width(self) -> int:
        """Numbers in a window's vector: the first token's state, then the mean."""
        return 2 * self.bert.width

    @property
    def room(self) -> int:
        """Tokens of a text that are read at once."""
        return self.bert.longest - 2

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair."""
        return (self.bert.longest - 3) // 2

    def layer_tensors(self) -> dict[str, Tensor]:
        """Give the weights of the layers by their names in transformers."""
        return self.bert.layer_tensors()

    def with_layers(self, tensors: Mapping[str, Tensor]) -> PooledBert:
        """Give one with other layers on the same embeddings, which are not copied."""
        return replace(self, bert=self.bert.with_layers(tensors))

    def to_int8(self) -> PooledBert:
        """Give one whose layers multiply in 8 bits."""
        return replace(self, bert=self.bert.to_int8())

    @cached_property
    def unknown(self) -> int | None:
        """The number of the sign for what is not in the vocabulary."""
        return find_unknown(self.tokenizer)

    def ids(self, text: str) -> list[int]:
        """Give the numbers of a text's tokens, without those that the model adds."""
        # Half of a surrogate pair is no character.
        encoding = self.tokenizer.encode(SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return list(encoding.ids)

    def pool(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Give a vector for every window of tokens: (windows, 2 × width of the encoder)."""
        first, last = self.edges.ids
        return self._pool([[first, *ids, last] for ids in texts])

    def pool_pairs(self, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Tensor:
        """Give a vector for every pair, read as one text whose second half is of another kind."""
        first, last = self.edges.ids
        rows = [[first, *left, last, *right, last] for left, right in pairs]
        kinds = [[0] * (len(left) + 2) + [1] * (len(right) + 1) for left, right in pairs]
        return self._pool(rows, kinds)

    def states(self, texts: Sequence[Sequence[int]], layer: int) -> list[Tensor]:
        """Give the states of the tokens of every window after a layer: (tokens, width) each.

        Those that the model adds at either end are left out.
        """
        first, last = self.edges.ids
        rows = [[first, *ids, last] for ids in texts]
        return self._run(rows, layer, lambda part: part[1:-1].float().clone())

    def _pool(self, rows: list[list[int]], kinds: list[list[int]] | None = None) -> Tensor:
        import torch

        top = len(self.bert.stack)
        vectors = self._run(rows, top, lambda part: torch.cat([part[0], part.mean(0)]), kinds)
        return torch.stack(vectors).float() if vectors else torch.empty(0, self.width)

    def _run(
        self,
        rows: list[list[int]],
        layer: int,
        keep: Callable[[Tensor], Tensor],
        kinds: list[list[int]] | None = None,
    ) -> list[Tensor]:
        """Give what is kept of the states of every row of tokens after a layer."""
        import torch

        def run(batch: list[int]) -> list[Tensor]:
            of_batch = None if kinds is None else [kinds[index] for index in batch]
            [states] = self.bert([rows[index] for index in batch], [layer], kinds=of_batch)
            return [*map(keep, states.split_with_sizes([len(rows[index]) for index in batch]))]

        budget = self.bert.fit_batch(self.batch_tokens)
        with torch.inference_mode():
            return run_batches(run, [len(row) for row in rows], budget=budget)


def load_pooled_bert(name: str, *, dtype: Dtype = "fp32") -> PooledBert:
    """Give the encoder that an asset holds; it is loaded once a process, whoever else asks it."""
    encoder = load_model(f"embedded({name!r}, dtype={dtype!r})")
    if not isinstance(encoder, Encoder):
        raise SettingError(f"{name!r} is no encoder", "name one such as 'story_encoder'")
    return PooledBert(encoder.bert, encoder.tokenizer, encoder.edges)


def check_layer(layer: int, count: int) -> None:
    """Refuse a layer that there is not."""
    if not 0 <= layer < count:
        raise SettingError(f"there is no layer {layer}", f"take 0 to {count - 1}")


def load_tokenizer(folder: Path, words: int | None = None) -> tuple[Tokenizer, Edges]:
    """Read `tokenizer.json`; no text is cut or padded, whatever the file says.

    For a model of so many words it must know no more than those, and add a sign at either end.
    """
    file, remedy = folder / "tokenizer.json", "get it again: the file may have been cut off"
    with refuse_broken(str(file), remedy):
        file.open("rb").close()
        tokenizer = package("tokenizers").Tokenizer.from_file(str(file))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        nothing, known = tokenizer.encode(""), tokenizer.get_vocab()
        # One without a sign for what it does not know would fail later.
        tokenizer.encode("a \ue000")
    if words is not None and len(nothing.ids) != 2:
        problem = f"{file} adds {len(nothing.ids)} tokens to a text, not one at either end"
        raise InputError(problem, remedy)
    if words is not None and max(known.values(), default=0) >= words:
        raise InputError(f"{file} has words that the model of {words:,} does not know", remedy)
    return tokenizer, Edges(tuple(nothing.ids), tuple(nothing.tokens))


def find_unknown(tokenizer: Tokenizer) -> int | None:
    """Give the number of the sign for what the vocabulary lacks, if there is one."""
    sign = getattr(tokenizer.model, "unk_token", None) or "<unk>"
    return tokenizer.token_to_id(sign)


def _rows_of(part: range, count: int) -> range:
    """Rows for a window's tokens; the first and the last window also give what the model adds."""
    return range(part.start + 1 if part.start else 0, part.stop + (2 if part.stop == count else 1))


def _scatter_rows(pieces: list[Piece], rows: list[Array], states: list[list[Array]]) -> None:
    """Copy what each window is asked for to the text it is of."""
    start = 0
    for piece in pieces:
        at, shift = piece.rows, start - piece.place.start
        for target, source in zip(states[piece.number], rows, strict=True):
            target[at.start : at.stop] = source[at.start + shift : at.stop + shift]
        start += piece.length


def _pool(rows: Array) -> Array:
    mean = rows.mean(axis=0, dtype=np.float64)
    pooled: Array = (mean / np.linalg.norm(mean)).astype(np.float32)
    return pooled
