"""The regressor of S3: a support-vector machine as plain numbers, and how one is fitted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.core.files import read_bounded
from fabula.core.model import WordVectors
from fabula.core.plain import from_plain
from fabula.core.story import Story
from fabula.metrics._soft_grams import Lexis
from fabula.metrics.s3_regression.features import FEATURES, FEATURES_VERSION, s3_features
from fabula.models import load_model, need

if TYPE_CHECKING:
    from fabula.core.model import Array

FOLDER = Path(__file__).parent / "_shipped"
OURS = ("pyramid", "responsiveness")
_DIGITS = 12
_FOLDS = 6
# Tried in this order, the smoothest first; cost and epsilon in deviations of the targets.
_GAMMAS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_COSTS = (1.0, 10.0, 100.0, 1000.0)
_EPSILONS = (0.4, 0.3, 0.2, 0.1)
# So much more squared error than the least is as good, if the curve is smoother.
_AS_GOOD = 1.05


@dataclass(frozen=True)
class Regressor:
    """A support-vector regression with a radial kernel over the features of S3.

    `fitted` are digests of the pairs of text and reference that it was fitted on; `vectors` is the
    signature of the word vectors and `threshold` the least cosine that went into the features.
    """

    target: str
    features: int
    vectors: str
    threshold: float
    means: tuple[float, ...]
    scales: tuple[float, ...]
    support: tuple[tuple[float, ...], ...]
    coefficients: tuple[float, ...]
    gamma: float
    intercept: float
    fitted: tuple[str, ...]

    def predict(self, features: Array) -> Array:
        """Predict from features: (pairs, features) → (pairs,)."""
        support = np.array(self.support)
        # What is too far away for a float counts as infinitely far: its kernel is 0.
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (np.atleast_2d(features) - np.array(self.means)) / np.array(self.scales)
            squares = ((scaled[:, None] - support[None]) ** 2).sum(axis=2)  # (pairs, support)
            predictions: Array = np.exp(-self.gamma * squares) @ np.array(self.coefficients)
            return predictions + self.intercept

    def fitted_on(self, story: Story) -> bool:
        """Whether the story, beside any of its references, was among those it was fitted on."""
        return any(
            pair_digest(story.text, reference) in self._known for reference in story.references
        )

    @cached_property
    def digest(self) -> str:
        """Beginning of the SHA-256 of all its numbers."""
        return hashlib.sha256(self._text.encode()).hexdigest()[:_DIGITS]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(self._text + "\n", encoding="utf-8")

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.fitted)

    @property
    def _text(self) -> str:
        rows = [f' "{key}": {json.dumps(value)}' for key, value in asdict(self).items()]
        return "{\n" + ",\n".join(rows) + "\n}"


def pair_digest(text: str, reference: str) -> str:
    """Beginning of the SHA-256 of a text and a reference."""
    joined = f"{text}\0{reference}".encode(errors="surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:_DIGITS]


def load_regressor(name: str) -> Regressor:
    """Open one of ours by its name, or a JSON file of the user's."""
    path = FOLDER / f"{name}.json" if name in OURS else Path(name).expanduser()
    try:
        return _read(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, InputError) as error:
        raise SettingError(
            f"s3: regressor={name!r} cannot be read ({error})",
            f"give {', '.join(map(repr, OURS))} or a file that Regressor.save wrote",
        ) from None


@lru_cache(maxsize=8)
def _read(path: Path, changed: int) -> Regressor:
    """Read a file; one that has changed since is read again."""
    try:
        raw = json.loads(read_bounded(path).decode("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    regressor = from_plain(Regressor, raw, "no regressor of S3", error=InputError)
    shapes = {len(row) for row in regressor.support}
    scaling = {len(regressor.means), len(regressor.scales)}
    if len(regressor.support) != len(regressor.coefficients) or shapes | scaling != {len(FEATURES)}:
        raise ValueError("the numbers do not go together")
    if min(regressor.scales) <= 0 or regressor.gamma < 0:
        raise ValueError("scales must be above 0, and gamma not below")
    if regressor.features != FEATURES_VERSION:
        raise ValueError(f"made for features of version {regressor.features}: fit it again")
    return regressor


def fit(
    stories: Sequence[Story],
    targets: Sequence[float],
    *,
    seed: int,
    target: str = "",
    model: str = "embedded('glove_50d')",
    threshold: float = 0.8,
    most_vectors: int = 200,
) -> Regressor:
    """Fit a regressor to what people (or another metric) say of stories with one reference each.

    Kernel, cost and tolerance are the smoothest whose squared error is within a twentieth of the
    least, in a cross-validation that keeps the stories of an item together, among those that need
    at most `most_vectors` support vectors. `seed` deals the items out to the parts.
    """
    _check(stories, targets)
    vectors = need(load_model(model), WordVectors)
    texts = [text for story in stories for text in (story.text, story.references[0])]
    lexis = Lexis.of(texts, vectors)
    raw = np.array(
        [s3_features(s.text, s.references[0], lexis=lexis, threshold=threshold) for s in stories]
    )
    means, scales = raw.mean(axis=0), np.maximum(raw.std(axis=0), 1e-9)
    gold = np.asarray(targets, dtype=np.float64)
    items = [story.item or story.id for story in stories]
    machine = _choose_machine((raw - means) / scales, gold, _folds(items, seed), most_vectors)
    return Regressor(
        target=target,
        features=FEATURES_VERSION,
        vectors=vectors.signature,
        threshold=threshold,
        means=_rounded(means),
        scales=_rounded(scales),
        support=tuple(map(_rounded, machine.support_vectors_)),
        coefficients=_rounded(machine.dual_coef_[0]),
        gamma=float(machine.gamma),
        intercept=float(machine.intercept_[0]),
        fitted=tuple(sorted({pair_digest(s.text, s.references[0]) for s in stories})),
    )


def _check(stories: Sequence[Story], targets: Sequence[float]) -> None:
    if len(stories) != len(targets):
        raise InputError(f"{len(stories)} stories, {len(targets)} targets", "give one a story")
    for story, value in zip(stories, targets, strict=True):
        if not story.text.strip() or not story.references or not story.references[0].strip():
            raise InputError(f"story {story.id!r} has no text or reference", "leave it out")
        if not np.isfinite(value):
            raise InputError(f"story {story.id!r}: the target is {value}", "leave it out")
    if len({story.item or story.id for story in stories}) < _FOLDS:
        raise InputError("too few items to fit a regressor", f"give {_FOLDS} or more")
    if np.ptp(np.asarray(targets, dtype=np.float64)) == 0:
        raise InputError("all targets are the same", "there is nothing to learn")


def _folds(items: Sequence[str], seed: int) -> Array:
    """Number of the part that each story is in; those of an item are in the same."""
    names = sorted(set(items))
    order = np.random.default_rng(seed).permutation(len(names))
    part = {name: int(place) % _FOLDS for name, place in zip(names, order, strict=True)}
    return np.array([part[item] for item in items])


def _choose_machine(points: Array, gold: Array, folds: Array, most_vectors: int) -> Any:
    """The smoothest machine that does about best on stories of items that it has not seen."""
    spread = float(gold.std())
    candidates = []
    for gamma, cost, epsilon in product(_GAMMAS, _COSTS, _EPSILONS):
        settings = {"C": cost * spread, "gamma": gamma, "epsilon": epsilon * spread}
        whole = _fitted(points, gold, settings)
        if 0 < len(whole.support_) <= most_vectors:
            candidates.append((_error(points, gold, folds, settings), whole))
    if not candidates:
        raise InputError(
            f"no regressor with at most {most_vectors} support vectors fits", "allow more of them"
        )
    least = min(error for error, _ in candidates)
    return next(whole for error, whole in candidates if error <= _AS_GOOD * least)


def _error(points: Array, gold: Array, folds: Array, settings: dict[str, float]) -> float:
    total = 0.0
    for part in range(_FOLDS):
        out = folds == part
        guess = _fitted(points[~out], gold[~out], settings).predict(points[out])
        total += float(((guess - gold[out]) ** 2).sum())
    return total / len(gold)


def _fitted(points: Array, gold: Array, settings: dict[str, float]) -> Any:
    try:
        from sklearn.svm import SVR
    except ImportError:
        raise PackageMissing("scikit-learn", "train") from None
    return SVR(kernel="rbf", **settings).fit(points, gold)


def _rounded(values: Array) -> tuple[float, ...]:
    """Nine digits, so that the file stays small."""
    return tuple(float(f"{value:.9g}") for value in values)
