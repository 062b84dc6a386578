"""Readers: what a training left, loaded once a process, and asked once about a text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fabula.core.errors import InputError, SettingError, UnknownName, closest
from fabula.core.model import TokenCount
from fabula.core.protocols import watch
from fabula.learned.joint import config as joint_config
from fabula.learned.joint.network import open_joint
from fabula.learned.reader import config as reader_config
from fabula.learned.reader import network as reader_network
from fabula.learned.reader.config import ENCODER, REMEDY, Pin, ReaderConfig, Scale, read_config
from fabula.learned.reader.domain import describe_oddities
from fabula.learned.reader.fake import FAKE, FakeNetwork, fake_config
from fabula.learned.reader.network import (
    PooledEncoder,
    check_encoder,
    holds_reader,
    is_plain_bert,
    open_network,
)
from fabula.learned.reader.relation import ReaderDtype, relate
from fabula.learned.reader.sequence import open_sequence
from fabula.models import asset_names, get_asset, path_of
from fabula.models.networks.encoder import PooledBert, load_pooled_bert
from fabula.models.reading.state_cache import LruCache, text_key
from fabula.text.features import FEATURES_VERSION, feature_row
from fabula.text.layout import lay_out

if TYPE_CHECKING:
    from fabula.core.model import Array

    Outputs = Mapping[str, Array]
    Prompts = Sequence[str | None]
    Relate = Callable[[Prompts, Sequence[str]], Array]

CACHED_TEXTS = 4096
CACHED_PAIRS = 16_384
_NAMED = 6  # trainings that a refusal names

_loaded: dict[object, Reader] = {}
_lock = RLock()


class Source(Protocol):
    """Where outputs of heads come from."""

    @property
    def pair_room(self) -> int:
        """Tokens that are read of either text of a pair."""

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of every text."""

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""

    def window_outputs(self, texts: Sequence[str]) -> Iterable[Outputs]:
        """Give for every text what each head says of its windows: (windows, outputs)."""

    def pair_outputs(self, pairs: Sequence[tuple[str, str]]) -> Iterable[Outputs]:
        """Give for every pair what each head says of it: (outputs,)."""


@dataclass(frozen=True, eq=False)
class Reader:
    """Heads that have been trained, and how values are made of what they say.

    Texts are read whole, window by window, in the layout that its configuration names. What was
    said of the last texts is cached, so that one pass serves all metrics with the same weights.
    """

    config: ReaderConfig
    signature: str
    source: Source = field(repr=False)
    relate: Relate = field(default=relate, repr=False)
    dtype: ReaderDtype = "fp32"
    _windows: LruCache[Outputs] = field(default_factory=lambda: LruCache(CACHED_TEXTS), repr=False)
    _pairs: LruCache[Outputs] = field(default_factory=lambda: LruCache(CACHED_PAIRS), repr=False)
    _counts: LruCache[TokenCount] = field(
        default_factory=lambda: LruCache(CACHED_TEXTS), repr=False
    )
    _oddities: LruCache[tuple[str, ...]] = field(
        default_factory=lambda: LruCache(CACHED_TEXTS), repr=False
    )

    def lay_out(self, texts: Sequence[str]) -> list[str]:
        """Give what is read of every text."""
        return [lay_out(text, self.config.layout) for text in texts]

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the tokens of every text and those that are not in the vocabulary."""

        def make(places: list[int]) -> list[TokenCount]:
            return self.source.count_unknown(self.lay_out([texts[place] for place in places]))

        return self._counts.get([text_key(text) for text in texts], make)

    def scale(self, name: str) -> Scale:
        """Give a scale by its name; one that these weights have not is for the user to mend."""
        if name not in self.config.scales:
            known = ", ".join(self.config.scales) or "none"
            problem = f"the weights {self.signature} have no scale {name!r}"
            raise SettingError(problem, f"take others; these have: {known}")
        return self.config.scales[name]

    def outputs(self, texts: Sequence[str]) -> list[Outputs]:
        """Give for every text what each head says of it: the mean over its windows, (outputs,).

        Of a text without a token nothing can be said: NaN.
        """
        return [
            {name: _mean(rows) for name, rows in windows.items()}
            for windows in self.window_outputs(texts)
        ]

    def window_outputs(self, texts: Sequence[str]) -> list[Outputs]:
        """Give for every text what each head says of its windows: (windows, outputs)."""

        def make(places: list[int]) -> Iterable[Outputs]:
            return self.source.window_outputs(self.lay_out([texts[place] for place in places]))

        return self._windows.get([text_key(text) for text in texts], make)

    def pair_outputs(self, pairs: Sequence[tuple[str, str]], head: str) -> Array:
        """Give what a head says of every pair of texts: (pairs, outputs)."""
        if head not in self.config.heads:
            known = ", ".join(self.config.heads)
            problem = f"the weights {self.signature} have no head {head!r}"
            raise SettingError(problem, f"take others; these have: {known}")

        def make(places: list[int]) -> Iterable[Outputs]:
            return self.source.pair_outputs([pairs[place] for place in places])

        outputs = self._pairs.get([text_key(*pair) for pair in pairs], make)
        count = len(self.config.heads[head].outputs)
        return np.array([by_head[head] for by_head in outputs], dtype=float).reshape(-1, count)

    def pair_coverage(self, texts: Sequence[str]) -> float:
        """Give the share of the tokens of texts that is read when they come in pairs."""
        lengths = self.source.lengths(texts)
        read = sum(min(length, self.source.pair_room) for length in lengths)
        return read / sum(lengths) if any(lengths) else 1.0

    def raw(self, scale: str, texts: Sequence[str], prompts: Prompts | None = None) -> Array:
        """Give the raw value of every text on a scale: (texts,).

        On a scale with a relation it is NaN where a text has no prompt.
        """
        wanted, nothing = self.scale(scale), [None] * len(texts)
        features = [*map(feature_row, self.lay_out(texts))] if wanted.surface else nothing
        related = self._relate(texts, prompts) if wanted.relation and prompts else nothing
        rows = zip(self._say(wanted, texts), features, related, strict=True)
        layout = self.config.layout
        return np.array([wanted.raw(said, row, layout, last) for said, row, last in rows], float)

    def open_beside(self, scales: Iterable[str]) -> Reader | None:
        """Load the reader that stands beside this one, where one of the scales asks it."""
        pin, terms = self.config.beside, [t for name in scales for t in self.scale(name).terms]
        if pin is None or not any(term.head in self.config.borrowed for term in terms):
            return None
        return _open_pinned(pin, self.signature, self.dtype)

    def values(
        self, scales: Sequence[str], texts: Sequence[str], prompts: Prompts | None = None
    ) -> Array:
        """Give the value of every text on each of some scales: (texts, scales)."""
        columns = [
            [self.scale(name).value(raw) for raw in self.raw(name, texts, prompts)]
            for name in scales
        ]
        return np.array(columns, dtype=float).reshape(len(scales), len(texts)).T

    def warnings(self, text: str) -> tuple[str, ...]:
        """Say in plain words what about a text is unlike the stories that it learned from."""

        def make(_: list[int]) -> Iterable[tuple[str, ...]]:
            [read] = self.lay_out([text])
            return [describe_oddities(read, self.config.domain)]

        [oddities] = self._oddities.get([text_key(text)], make)
        return oddities

    def _say(self, scale: Scale, texts: Sequence[str]) -> list[Outputs]:
        """Give what heads say of every text, with those of the reader beside that a scale asks."""
        said, borrowed = self.outputs(texts), self.config.borrowed
        asked = [term.head for term in scale.terms if term.head in borrowed]
        if not asked:
            return said
        assert self.config.beside
        other = load_reader(self.config.beside.name, dtype=self.dtype)
        names = {name: borrowed[name].outputs[0] for name in asked}
        return [
            {**own, **{name: more[head] for name, head in names.items()}}
            for own, more in zip(said, other.outputs(texts), strict=True)
        ]

    def _relate(self, texts: Sequence[str], prompts: Prompts) -> list[Array | None]:
        """Relate texts to their prompts; None where there is no prompt."""
        places = [place for place, prompt in enumerate(prompts) if prompt and prompt.strip()]
        rows: list[Array | None] = [None] * len(texts)
        if places:
            asked = [prompts[place] for place in places], [texts[place] for place in places]
            for place, row in zip(places, self.relate(*asked), strict=True):
                rows[place] = row
        return rows


def load_reader(name: str, *, dtype: ReaderDtype = "fp32") -> Reader:
    """Load the reader of an asset or of the folder of a training; once a process.

    In `int8` its encoder multiplies in 8 bits. `fake` is a reader without weights, for tests.
    """
    with _lock:
        if name == FAKE:
            return _loaded.setdefault(FAKE, _fake_reader())
        folder = find_folder(name)
        key = (folder, dtype, *_stamps(folder))
        if key not in _loaded:
            with watch.get().during(f"loading {name}"):
                _loaded[key] = _open_folder(folder, dtype)
        return _loaded[key]


def _open_pinned(pin: Pin, who: str, dtype: ReaderDtype) -> Reader:
    """Load the reader that another one was fitted beside, if it is still the same."""
    if get_asset(pin.name).tree_sha256 != pin.tree_sha256:
        problem = f"{who}: fitted beside another {pin.name} than this Fabula has"
        raise InputError(problem, "train it again, or take the Fabula that it was made for")
    return load_reader(pin.name, dtype=dtype)


def open_reader(folder: Path, encoder: PooledEncoder, *, dtype: ReaderDtype = "fp32") -> Reader:
    """Open the reader of a folder on an encoder that is at hand."""
    config = read_config(folder)
    network, signature = open_network(folder, config, encoder), _sign(folder, config, dtype)
    if dtype == "fp32":
        return Reader(config, signature, network)
    if not isinstance(network.encoder, PooledBert):
        raise _refuse_int8(folder)
    quantised = replace(network, encoder=network.encoder.to_int8())
    return Reader(config, signature, quantised, partial(relate, dtype=dtype), dtype)


def _sign(folder: Path, config: ReaderConfig, dtype: ReaderDtype) -> str:
    digest = hashlib.sha256()
    for file in (reader_config.FILE, reader_network.FILE):
        digest.update((folder / file).read_bytes())
    signature = f"{config.kind}@{digest.hexdigest()[:12]},features={FEATURES_VERSION}"
    return signature if dtype == "fp32" else f"{signature},{dtype}"


def _open_folder(folder: Path, dtype: ReaderDtype) -> Reader:
    if (folder / joint_config.FILE).is_file():
        if dtype != "fp32":
            raise _refuse_int8(folder)
        return Reader(*open_joint(folder))
    check_folder(folder)
    config = read_config(folder)
    if config.sequence and config.beside:
        check_encoder(folder, config.encoder)
        judge = _open_pinned(config.beside, f"the weights in {folder}", dtype)
        network = open_sequence(folder, config, judge, dtype)
        return Reader(config, _sign(folder, config, dtype), network, dtype=dtype)
    return open_reader(folder, open_encoder(folder, config), dtype=dtype)


def open_encoder(folder: Path, config: ReaderConfig) -> PooledEncoder:
    """Open the encoder that the reader in a folder was trained on, if it is still the same."""
    pin = config.encoder
    if not pin.own:
        check_encoder(folder, pin)
        if is_plain_bert(path_of(pin.name)):
            return load_pooled_bert(pin.name)  # shared by all readers on it
    from fabula.learned.reader.encoders import open_encoder_of

    return open_encoder_of(folder, config)


def _refuse_int8(folder: Path) -> SettingError:
    problem = f"the weights in {folder} are read by transformers, and not in int8"
    return SettingError(problem, "leave dtype out, or take weights on a BERT, such as 'reader'")


def _fake_reader() -> Reader:
    config = fake_config()
    return Reader(config, f"{FAKE},features={FEATURES_VERSION}", FakeNetwork(config.heads))


def find_folder(name: str) -> Path:
    """Give the folder of an asset, or the one that is named."""
    if name in asset_names():
        return path_of(name)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder.resolve()
    if folder.name != name:
        raise SettingError(f"there is no folder {name}", "name an asset, or a training's folder")
    raise UnknownName(
        f"no asset is called {name!r}, nor is there such a folder", closest(name, asset_names())
    )


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds no reader; of several trainings below it, some are named."""
    if _holds_any(folder):
        return
    files = f"neither {reader_config.FILE} nor {joint_config.FILE}"
    below = [inner for way in ("*", "*/*") for inner in folder.glob(way) if _holds_any(inner)]
    # By length first, so that seed-2 comes before seed-10.
    names = sorted(map(str, below), key=lambda name: (len(name), name))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    named = f"name one: {', '.join(names[:_NAMED])}{more}"
    raise InputError(f"{folder} holds no reader: it has {files}", named if names else REMEDY)


def _holds_any(folder: Path) -> bool:
    return holds_reader(folder) or (folder / joint_config.FILE).is_file()


def _stamps(folder: Path) -> list[object]:
    """Size and time of a reader's files: a folder that was trained into again is read again."""
    names = (
        reader_config.FILE,
        reader_network.FILE,
        joint_config.FILE,
        joint_config.HEADS_FILE,
    )
    files = [*(folder / name for name in names), folder / ENCODER / reader_network.FILE]
    stats = [file.stat() for file in files if file.is_file()]
    return [(stat.st_size, stat.st_mtime_ns) for stat in stats]


def _mean(rows: Array) -> Array:
    if not len(rows):
        return np.full(rows.shape[1], np.nan)
    mean: Array = rows.mean(axis=0, dtype=np.float64)
    return mean
