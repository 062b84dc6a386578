"""Causal models that are told what each token belongs to: STORIUM's segments.

Akoury et al. (2020): e_i = p_i + v_i + Σ_m s_im. To a token's embedding v the embeddings s of all
its marks are added (`name_field` of a `character`; `previous` twice, two entries back); the
position p is added by models that add one (GPT-2), others turn by it (Llama). Marks are special
tokens, `<|CHARACTER|>`, registered before anything is cut into tokens; their embeddings are those
of the token table (`tokens`, as released) or a table of their own (`own`), which begins at zero, so
that training begins with the model as it was.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fabula.core.author import MARKS
from fabula.core.errors import InputError
from fabula.core.files import write_bytes, write_text
from fabula.core.plain import from_plain, read_json, read_tensors
from fabula.models._runtime import package

if TYPE_CHECKING:
    from torch import Tensor

CONFIG = "segments.json"
TABLE = "segments.safetensors"
TableKind = Literal["own", "tokens"]
_REMEDY = "train it again, or name another folder"


@dataclass(frozen=True)
class SegmentScheme:
    """How a model with segments was shown games, for whoever writes with it.

    `compat` has the release's bug: its data were cut into tokens before the marks were registered,
    so that each of them became the sign for what is unknown.
    """

    table: TableKind = "own"
    packing: Literal["cassowary", "greedy", "none"] = "cassowary"
    history: int = 1
    budget: int = 1024
    strongest: Literal["first", "last"] = "last"
    compat: bool = False

    def save(self, folder: Path, table: Tensor | None) -> None:
        """Write it, and the marks' own table, beside a model."""
        write_text(folder / CONFIG, json.dumps(asdict(self), indent=1) + "\n")
        if table is not None:
            half = table.detach().cpu().to(package("torch").float16).contiguous()
            save = package("safetensors.torch").save
            write_bytes(folder / TABLE, save({"marks": half}, metadata={"format": "pt"}))


def read_scheme(folder: Path) -> SegmentScheme:
    """Read how a folder's model was shown games; one without segments is refused."""
    if not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder} holds no model with segments ({CONFIG} is not there)",
            "train one: fabula train author --format storium, or say huggingface('FOLDER')",
        )
    value = read_json(folder / CONFIG, remedy=_REMEDY)
    return from_plain(SegmentScheme, value, str(folder / CONFIG), error=InputError, remedy=_REMEDY)


def read_table(folder: Path, width: int) -> Tensor:
    """Read the marks' own table: (marks, width)."""
    tensors = read_tensors(folder / TABLE, remedy=_REMEDY)
    table: Tensor | None = tensors.get("marks")
    if table is None or tuple(table.shape) != (len(MARKS), width):
        raise InputError(f"{folder / TABLE} is no table of {len(MARKS)} × {width}", _REMEDY)
    return table.float()


def spell_mark(mark: str) -> str:
    """Give the special token of a mark."""
    return f"<|{mark.upper()}|>"


def register_marks(tokenizer: Any) -> None:
    """Let a tokeniser know all marks, each as a token of its own; those it knows stay."""
    tokenizer.add_special_tokens(
        {"additional_special_tokens": [spell_mark(mark) for mark in MARKS]},
        **_keep_others(tokenizer),
    )


def _keep_others(tokenizer: Any) -> dict[str, bool]:
    """The setting that keeps other special tokens, by the name that this version has for it."""
    from inspect import signature

    known = signature(tokenizer.add_special_tokens).parameters
    names = ("replace_extra_special_tokens", "replace_additional_special_tokens")
    return {name: False for name in names if name in known}


def find_marks(tokenizer: Any, *, compat: bool = False) -> list[int]:
    """Give the token of every mark; `compat`: of the unknown sign, or that between texts."""
    if compat:
        unknown = tokenizer.unk_token_id
        return [tokenizer.eos_token_id if unknown is None else unknown] * len(MARKS)
    ids = tokenizer.convert_tokens_to_ids([spell_mark(mark) for mark in MARKS])
    if None in ids or len(set(ids)) != len(MARKS) or tokenizer.unk_token_id in ids:
        raise InputError("the tokeniser does not know the marks of segments", _REMEDY)
    return [int(number) for number in ids]


def resize_table(net: Any, tokenizer: Any) -> None:
    """Give a model rows for tokens that were registered: the mean of the others, without chance."""
    torch = package("torch")
    before = net.get_input_embeddings().weight.shape[0]
    if len(tokenizer) <= before:
        return
    net.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with torch.no_grad():
        tables = [net.get_input_embeddings().weight]
        head = net.get_output_embeddings()
        if head is not None and head.weight is not tables[0]:
            tables.append(head.weight)
        for table in tables:
            table[before:] = table[:before].mean(dim=0)


@dataclass(eq=False)
class MarkCounts:
    """Combinations of marks, numbered as they come; the first is that of the text itself.

    So a token's number, plus its combination's times `size`, says both what it is and what it
    belongs to, and a token that is drawn is one of the text by its own number.
    """

    combinations: list[tuple[str, ...]] = field(default_factory=list)

    def number(self, marks: Sequence[str]) -> int:
        """Give the number of a combination, a new one where it has not come before."""
        key = tuple(marks)
        if key not in self.combinations:
            if unknown := sorted({*key} - {*MARKS}):
                raise InputError(f"{unknown[0]!r} is no mark of a segment", _REMEDY)
            self.combinations.append(key)
        return self.combinations.index(key)

    def counts(self) -> Any:
        """Say how often every mark is in every combination: (combinations, marks)."""
        import numpy as np

        counts = np.zeros((len(self.combinations), len(MARKS)), dtype=np.float32)
        for row, marks in enumerate(self.combinations):
            for mark in marks:
                counts[row, MARKS.index(mark)] += 1
        return counts


def embed_segments(words: Tensor, kinds: Tensor, *, table: Tensor, counts: Tensor) -> Tensor:
    """Add to embeddings (…, H) the sum of their marks' embeddings, by numbers of combinations (…).

    `table` has a row a mark (M, H), `counts` says how often it is in a combination (K, M).
    """
    sums = counts.to(table.dtype) @ table  # (K, H)
    embedded: Tensor = words + sums[kinds].to(words.dtype)
    return embedded


@dataclass(eq=False)
class SegmentEmbedding:
    """Embeds numbers that say of a token what it is and what it belongs to, for a decoder."""

    words: Any = field(repr=False)  # the model's own layer, which may scale the rows of its table
    table: Tensor = field(repr=False)  # (M, H)
    size: int  # of the vocabulary
    marks: MarkCounts

    def __call__(self, numbers: Tensor) -> Tensor:
        """Give the rows of numbers: (…) to (…, H)."""
        torch = package("torch")
        counts = torch.from_numpy(self.marks.counts()).to(self.table)
        with torch.no_grad():
            rows = self.words(numbers % self.size)
        return embed_segments(rows, numbers // self.size, table=self.table, counts=counts)


def open_embedding(folder: Path, net: Any, tokenizer: Any, marks: MarkCounts) -> SegmentEmbedding:
    """Make the embedding of a folder's model, which is loaded."""
    scheme, words = read_scheme(folder), net.get_input_embeddings()
    weight = words.weight.detach()
    if scheme.table == "own":
        table = read_table(folder, weight.shape[1]).to(weight)
    else:
        table = weight[find_marks(tokenizer, compat=scheme.compat)]
    return SegmentEmbedding(words, table, len(tokenizer), marks)
