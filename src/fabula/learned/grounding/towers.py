"""Two towers: a crop's vector and a noun's vector, each through one layer into a space of both.

RoViST's visual grounder (Wang et al., 2022): tanh(Wx + b) on either side, compared by cosine. What
a training leaves is a folder: `grounder.json` names the models below, `model.safetensors` holds the
layers, and `encoder` the encoder of crops where that has learned, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.files import write_json
from fabula.core.model import Embedder, ImageClassifier, ImageEncoder, Model, Region, WordVectors
from fabula.core.plain import from_plain, read_json, read_tensors
from fabula.learned.grounding.matchers import (
    CLASSES,
    average_words,
    describe_drawing,
    normalise,
)
from fabula.models import load_model, need

if TYPE_CHECKING:
    from fabula.core.model import Array

FILE = "grounder.json"
WEIGHTS_FILE = "model.safetensors"
ENCODER = "encoder"
FORMAT = 1
SIDES = ("image", "noun")
# Vectors of the classifier's classes, where labels count.
CLASS_VECTORS = "classes"
# Crops that others are held against: in the joint space, and the numbers of their classes.
BACKGROUND, BACKGROUND_CLASSES = "background", "background_classes"
# What one region in fifty exceeds: a sequence of five pictures has some fifty regions.
CHANCE = 0.98
_REMEDY = "train it again (fabula train rovist_vg), or take another folder"


@dataclass(frozen=True)
class GrounderConfig:
    """The content of `grounder.json`.

    `encoder` is the spec of what encodes crops, or `encoder` for the folder of that name beside;
    `text` that of nouns: word vectors, whose mean over a phrase counts, or an encoder of texts.
    `label_weight` is the share of the labels (the detector's, and the `classes` likeliest of the
    encoder's own classes) in a similarity; the rest is the towers'. Where it is `calibrated`, a
    region's mean similarity to the names of all classes is taken off, so that one that is like
    everything is like nothing; and that of a noun which one crop in fifty exceeds, so that 0 is
    what the best region of five pictures would have by chance.
    """

    encoder: str
    text: str
    label_weight: float = 0.0
    classes: int = CLASSES
    calibrated: bool = False
    training: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.calibrated and not self.label_weight:
            raise SettingError("calibrated goes by labels, which do not count", "mend it")
        if not 0 <= self.label_weight <= 1 or self.classes < 1:
            problem = "label_weight is a share from 0 to 1, and at least one class counts"
            raise SettingError(problem, "mend it")


def embed(
    weights: Mapping[str, Any],
    side: str,
    vectors: Any,
    *,
    tanh: Callable[[Any], Any] = np.tanh,
) -> Any:
    """Take vectors of a side into the joint space; arrays and tensors will do alike: (B, joint)."""
    x = (vectors - weights[f"{side}.mean"]) / weights[f"{side}.deviation"]  # (B, W)
    return tanh(x @ weights[f"{side}.weight"] + weights[f"{side}.bias"])


def encode_phrases(model: Model, phrases: Sequence[str]) -> Array:
    """Give each phrase as the text model has it, NaN where it knows no word of it: (phrases, W)."""
    if isinstance(model, WordVectors):
        return average_words(model, phrases)
    return need(model, Embedder).vectors(phrases)


def text_width(model: Model) -> int:
    """Numbers in the vector of a phrase."""
    return model.width if isinstance(model, WordVectors) else need(model, Embedder).width


@dataclass(frozen=True, eq=False)
class TowerMatcher:
    """Regions and nouns in the joint space of two towers, with the labels' say where it helps."""

    config: GrounderConfig
    weights: Mapping[str, Array] = field(repr=False)
    encoder: ImageEncoder = field(repr=False)
    text: Model = field(repr=False)
    digest: str

    @property
    def signature(self) -> str:
        """Digest of the folder's files, and the models below."""
        return f"towers@{self.digest},{self.encoder.signature},{self.text.signature}"

    def view(self, crops: Sequence[Array], regions: Sequence[Region]) -> Array:
        """Give every region in the joint space, its labels, and its level: (R, joint + … + 1)."""
        joint = normalise(embed(self.weights, "image", self.encoder.encode(crops)))  # (R, joint)
        if not self.config.label_weight:
            return self._level_views(joint)
        labels = self._label(crops, [region.label for region in regions])  # (R, labels, W)
        return self._level_views(np.concatenate([joint, labels.reshape(len(joint), -1)], axis=1))

    def name(self, nouns: Sequence[str]) -> Array:
        """Give every noun in the joint space, its own vector, and its level: (N, joint + W + 1)."""
        names = self._place(encode_phrases(self.text, nouns))
        levels = np.zeros(len(names))
        if self.config.calibrated:
            background = self._mix(self._background, names) - self._background[:, -1:]
            # NaN for a noun that is not known, as all else of it.
            levels = np.quantile(background, CHANCE, axis=0)
        return _append(names, levels)

    def match(self, views: Array, names: Array) -> Array:
        """Give the weighted mean of the towers' cosine and of the nearest label's, by levels."""
        calibrated = self._mix(views, names[:, :-1]) - views[:, -1:] - names[:, -1]
        similarities: Array = np.clip(calibrated, -1.0, 1.0)
        return similarities

    def _place(self, vectors: Array) -> Array:
        """Give vectors of phrases in the joint space and in their own, of length one."""
        joint = normalise(embed(self.weights, "noun", vectors))
        both: Array = np.concatenate([joint, normalise(vectors)], axis=1)
        return both

    def _mix(self, views: Array, names: Array) -> Array:
        """Give what is not calibrated: (R, nouns)."""
        joint, share = len(self.weights["image.bias"]), self.config.label_weight
        cosines: Array = views[:, :joint] @ names[:, :joint].T
        if share:
            labels = views[:, joint:-1].reshape(len(views), -1, names.shape[1] - joint)
            # One product of two matrices: numpy would make one a region.
            flat = labels.reshape(-1, labels.shape[-1]) @ names[:, joint:].T
            near = flat.reshape(*labels.shape[:2], len(names))  # (R, labels, nouns)
            # A region that nobody labelled, NaN, is as like a noun as its classes are.
            is_unlabelled = np.isnan(labels).any(axis=-1, keepdims=True)
            nearest = np.where(is_unlabelled, -1.0, near).max(axis=1)
            cosines = (1 - share) * cosines + share * nearest
        return cosines

    def _level_views(self, views: Array) -> Array:
        """Put behind each region how like the names of all classes it is on average."""
        leveled = _append(views, np.zeros(len(views)))
        if self.config.calibrated:
            leveled[:, -1] = self._mix(leveled, self._references).mean(axis=1)
        return leveled

    @cached_property
    def _references(self) -> Array:
        return self._place(self.weights[CLASS_VECTORS])

    @cached_property
    def _background(self) -> Array:
        """Crops that are no regions of the picture, as `view` gives regions."""
        joint, numbers = self.weights[BACKGROUND], self.weights[BACKGROUND_CLASSES].astype(int)
        labels = self.weights[CLASS_VECTORS][numbers].reshape(len(joint), -1)
        return self._level_views(np.concatenate([joint, labels], axis=1))

    def note(self, whole: Array) -> str:
        """Say where a picture looks like a drawing, if the encoder knows classes."""
        encoder = self.encoder
        return describe_drawing(encoder, whole) if isinstance(encoder, ImageClassifier) else ""

    def _label(self, crops: Sequence[Array], told: Sequence[str]) -> Array:
        """Give unit vectors of the told label and of the likeliest classes: (R, labels, W)."""
        chances = need(self.encoder, ImageClassifier).classify(crops)
        best = np.argsort(-chances, axis=1, kind="stable")[:, : self.config.classes]
        likeliest = self.weights[CLASS_VECTORS][best]  # (R, classes, W)
        named = list(dict.fromkeys(told))
        vectors = dict(zip(named, normalise(encode_phrases(self.text, named)), strict=True))
        own = np.array([vectors[label] for label in told])[:, None]  # (R, 1, W)
        labels: Array = np.concatenate([own, likeliest], axis=1)
        return labels


def _append(rows: Array, column: Array) -> Array:
    both: Array = np.concatenate([rows, column[:, None].astype(rows.dtype)], axis=1)
    return both


def encode_classes(encoder: ImageClassifier, text: Model) -> Array:
    """Give unit vectors of a classifier's classes with all their synonyms: (classes, W)."""
    vectors = normalise(encode_phrases(text, encoder.classes))
    # A class that the text model knows no word of is like nothing.
    known: Array = np.where(np.isnan(vectors), 0.0, vectors)
    return known


def open_towers(folder: Path) -> TowerMatcher:
    """Open the folder that a training left."""
    plain = read_json(folder / FILE, remedy=_REMEDY)
    config = from_plain(GrounderConfig, plain, str(folder / FILE), error=InputError, remedy=_REMEDY)
    inner = folder / ENCODER
    spec = f"huggingface({str(inner)!r})" if config.encoder == ENCODER else config.encoder
    encoder, text = need(load_model(spec), ImageEncoder), load_model(config.text)
    weights = _read_weights(folder / WEIGHTS_FILE)
    _check_shapes(weights, config, encoder, text, folder / WEIGHTS_FILE)
    digest = hashlib.sha256((folder / FILE).read_bytes() + (folder / WEIGHTS_FILE).read_bytes())
    return TowerMatcher(config, weights, encoder, text, digest.hexdigest()[:12])


def write_config(folder: Path, config: GrounderConfig) -> None:
    """Write `grounder.json`, whole or not at all."""
    write_json(folder / FILE, asdict(config))


def _read_weights(file: Path) -> dict[str, Array]:
    tensors = read_tensors(file, "numpy", remedy=_REMEDY)
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def _check_shapes(
    weights: Mapping[str, Array],
    config: GrounderConfig,
    encoder: ImageEncoder,
    text: Model,
    file: Path,
) -> None:
    """Refuse weights whose sizes do not go together, or not with the models below."""
    joint = np.size(weights.get("image.bias", 0))
    expected: dict[str, tuple[int, ...]] = {}
    for side, width in zip(SIDES, (encoder.width, text_width(text)), strict=True):
        expected |= {f"{side}.{part}": (width,) for part in ("mean", "deviation")}
        expected |= {f"{side}.weight": (width, joint), f"{side}.bias": (joint,)}
    if config.label_weight:
        classes = len(need(encoder, ImageClassifier).classes)
        expected[CLASS_VECTORS] = (classes, text_width(text))
    if config.calibrated:
        count = len(weights.get(BACKGROUND, ()))
        expected |= {BACKGROUND: (count, joint), BACKGROUND_CLASSES: (count, config.classes)}
        numbers = weights.get(BACKGROUND_CLASSES, np.zeros(1))
        if not count or not 0 <= numbers.min() <= numbers.max() < classes:
            raise InputError(f"{file}: {BACKGROUND_CLASSES} are no numbers of classes", _REMEDY)
    for name, shape in expected.items():
        if name not in weights or weights[name].shape != shape:
            raise InputError(f"{file} holds no {name} of {' × '.join(map(str, shape))}", _REMEDY)
        if name.endswith("deviation") and weights[name].min() <= 0:
            raise InputError(f"{file}: {name} must be above 0", _REMEDY)
