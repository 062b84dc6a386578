"""Classifiers of comments on an encoder: which aspect is spoken of, and which rating goes with it.

They are a reader of two heads, trained and kept as readers are, on any encoder that those take;
`aspect_classifier` does the same from words alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader.config import FILE, read_config
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.training.aspect_classifier import OutOfFold
from fabula.learned.training.augmentation import LabelledComment
from fabula.learned.training.cross_fit import cross_fit
from fabula.learned.training.examples import Prepared, example_set
from fabula.learned.training.folder import OUTPUTS
from fabula.learned.training.loop import Report, choose_device
from fabula.learned.training.reader import ExampleSource, open_cut, open_workshop, train_reader
from fabula.learned.training.recipe import ReaderRecipe, find_recipe, read_recipe
from fabula.text.detokenise import detokenise

Array = np.ndarray[Any, np.dtype[Any]]
KIND, ASPECT, RATING = "comments", "aspect", "rating"


class CommentSource(ExampleSource):
    """Examples for the two heads, of comments whose aspects and ratings are known."""

    def __init__(
        self, known: Sequence[LabelledComment], *, start: Path | None = None, report: Report = print
    ) -> None:
        super().__init__(start=start, report=report)
        self._known = known

    def read(self, recipe: ReaderRecipe) -> Prepared:
        """Cut the comments into tokens; of aspects and of ratings one is told of each."""
        texts = open_cut(self.find_start(recipe))([detokenise(one.text) for one in self._known])
        members = [[number] for number in range(len(texts))]
        items = [f"story:{comment.story}" for comment in self._known]
        examples = {}
        for task in (ASPECT, RATING):
            labels = [_label(comment, task) for comment in self._known]
            targets = _shares(labels, recipe.tasks[task].aspects, task)
            examples[task] = example_set(texts, members, targets, items=items, ids=[])
        return Prepared(examples, {})


def _shares(labels: Sequence[str], known: Sequence[str], task: str) -> list[list[float]]:
    if unknown := sorted(set(labels) - set(known)):
        problem = f"a comment has the {task} {unknown[0]!r}, which the recipe does not know"
        raise InputError(problem, f"it knows: {', '.join(known)}")
    return [[float(label == name) for name in known] for label in labels]


@dataclass(frozen=True)
class CommentReader:
    """Classifiers that were trained; texts are read whole."""

    reader: Reader

    def classify(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """Give the probability of each aspect for each text."""
        return self._probabilities(texts, ASPECT)

    def rate(self, texts: Sequence[str]) -> list[float]:
        """Give the likeliest rating of every text; NaN of one without a token."""
        chances = self._probabilities(texts, RATING)
        return [
            math.nan if any(map(math.isnan, one.values())) else float(max(one, key=one.__getitem__))
            for one in chances
        ]

    def _probabilities(self, texts: Sequence[str], head: str) -> list[dict[str, float]]:
        names = self.reader.config.heads[head].outputs
        outputs = np.array([one[head] for one in self.reader.outputs(texts)])
        return [dict(zip(names, row, strict=True)) for row in _softmax(outputs).tolist()]


def _softmax(outputs: Array) -> Array:
    powers = np.exp(outputs - outputs.max(axis=-1, keepdims=True))
    shares: Array = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def cross_validate_readers(
    known: Sequence[LabelledComment],
    *,
    encoder: str | None = None,
    recipe: Path | None = None,
    folds: int = 5,
    seeds: int = 1,
    seed: int = 0,
    device: str = "",
    out: Path | None = None,
    report: Report = print,
) -> dict[str, OutOfFold]:
    """Tell aspect and rating of each comment by classifiers that saw none of its story.

    Of several seeds the mean probability counts. What is told is kept in the folder `out`, if one
    is named: a stopped run goes on from there.
    """
    chosen = read_recipe(ReaderRecipe, recipe or find_recipe(KIND), encoder=encoder, seed=seed)
    stories = len({comment.story for comment in known})
    if not 2 <= folds <= stories:
        raise SettingError(f"{folds} folds of {stories} stories", "2 folds or more, as stories")
    source = CommentSource(known, report=report)
    start, prepared = source.find_start(chosen), source.read(chosen)
    workshop = open_workshop(chosen, start, prepared, choose_device(device), report)
    with TemporaryDirectory() as place:
        folder = out or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        how: Any = {"out": folder / OUTPUTS, "report": report}
        crossed = cross_fit(workshop, folds=folds, seeds=seeds, **how)
    told = {}
    for task in (ASPECT, RATING):
        names = chosen.tasks[task].aspects
        shares = _softmax(crossed.outputs[task, task].astype(float)).mean(axis=0)  # (texts, names)
        rows = prepared.examples[task].members[:, 0]
        gold = [_label(comment, task) for comment in known]
        chances = [dict(zip(names, row, strict=True)) for row in shares[rows].tolist()]
        told[task] = OutOfFold(tuple(gold), tuple(chances))
    return told


def _label(comment: LabelledComment, task: str) -> str:
    return comment.aspect if task == ASPECT else f"{round(comment.rating)}"


def open_comment_reader(
    weights: Path,
    known: Sequence[LabelledComment],
    *,
    encoder: str | None = None,
    recipe: Path | None = None,
    seed: int = 0,
    device: str = "",
    report: Report = print,
) -> CommentReader:
    """Load the classifiers of a folder; where it holds none, train them there on known comments.

    `encoder` is an asset, a folder or a name of the hub. A training that was stopped goes on.
    """
    if not (weights / "training.json").exists():
        changes: dict[str, Any] = {"encoder": encoder, "seed": seed}
        chosen = read_recipe(ReaderRecipe, recipe or find_recipe(KIND), **changes)
        source = CommentSource(known, report=report)
        train_reader(chosen, source, out=weights, device=device, resume=True, report=report)
    elif not (weights / FILE).is_file() or read_config(weights).kind != KIND:
        raise InputError(f"{weights} holds another training", "name another folder")
    elif encoder and (name := read_config(weights).encoder.name) != Path(encoder).name:
        problem = f"the classifiers in {weights} are on the encoder {name!r}, not on {encoder!r}"
        raise SettingError(problem, "leave the encoder out, or name another folder")
    return CommentReader(load_reader(str(weights)))
