"""Train a grounder: two towers learn which noun a region shows (RoViST-VG; Wang et al., 2022)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.model import ImageClassifier, ImageEncoder, Region
from fabula.learned.grounding.matchers import CLASSES, normalise
from fabula.learned.grounding.recall import CUTS, macro_recall, rank_own
from fabula.learned.grounding.towers import (
    BACKGROUND,
    BACKGROUND_CLASSES,
    CLASS_VECTORS,
    ENCODER,
    GrounderConfig,
    TowerMatcher,
    embed,
    encode_classes,
    write_config,
)
from fabula.learned.training.folder import (
    MODEL,
    TrainingFolder,
    plain_values,
    write_tensors,
)
from fabula.learned.training.grounder_model import FEATURES, GrounderTrainee, Material
from fabula.learned.training.loop import LoopConfig, Report, TrainingState, run_training
from fabula.learned.training.recipe import require_least, require_shares
from fabula.models import PictureReader, need

if TYPE_CHECKING:
    from fabula.core.model import Array
    from fabula.learned.training.regions import LabelledRegion, RegionTable

# Of the regions held out, so many are ranked against one another's nouns.
MOST_RANKED = 2000
_BACKGROUND = 7


@dataclass(frozen=True)
class GrounderRecipe:
    """How a grounder is trained: the models below, the towers, the loss, and how they learn.

    `targets` are those of the contrastive loss: `code`, the softmax over how alike regions and
    phrases of a batch are among themselves; `paper`, the same without the softmax; `same`, an equal
    share for every pair of one phrase; `pairs`, each region its own phrase alone. With `detach`
    nothing is learned through them.
    """

    encoder: str = "embedded('mobilenet_v2')"
    tune_encoder: bool = False
    text: str = "embedded('minilm')"
    joint: int = 128
    targets: Literal["same", "code", "paper", "pairs"] = "same"
    detach: bool = False
    temperature: float = 10.0  # that similarities are multiplied by
    normalise: bool = True  # in training; in use vectors are of length one
    standardise: bool = True  # vectors of both sides, by those to learn from
    dropout: float = 0.3  # of a crop's vector
    noun_dropout: float = 0.2
    flips: bool = True  # every other crop is seen mirrored
    rate: float = 3e-3
    epoch_decay: float = 0.0  # of the rate, an epoch; 0: it goes down in a line
    weight_decay: float = 1e-5
    rows: int = 128
    epochs: int = 12
    patience: int = 0
    figure: Literal["recall", "loss"] = "recall"
    held_out: float = 0.15
    label_weights: tuple[float, ...] = (0.0,)  # the best of them for what is held out is kept
    classes: int = CLASSES
    background: int = 0  # crops that similarities are calibrated by; 0: they are not
    seed: int = 1

    def __post_init__(self) -> None:
        require_least(self, joint=1, rows=2, epochs=1, patience=0, classes=1, background=0)
        require_shares(self, "dropout", "noun_dropout", "held_out")
        if min(self.rate, self.temperature) <= 0 or not self.label_weights:
            problem = "rate and temperature must be above 0, and label_weights hold at least one"
            raise SettingError(problem, "mend the recipe")
        if not all(0 <= weight <= 1 for weight in self.label_weights):
            raise SettingError("label_weights are shares from 0 to 1", "mend the recipe")
        if self.background and not all(self.label_weights):
            raise SettingError("background goes by labels", "leave 0 out of label_weights")


def train_grounder(
    recipe: GrounderRecipe,
    table: RegionTable,
    *,
    out: Path,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train on regions, leave the best weights in `out`, give training.json."""
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    material = Material.open(recipe, table, out / FEATURES, device=device, report=report)
    trainee = GrounderTrainee(recipe, material)
    state = TrainingState(plain_values(recipe), plain_values(table.about))
    every = trainee.sampler.epoch_steps
    config = LoopConfig(0.0, recipe.patience, every, every, every)
    run_training(trainee, state, config, folder=folder, report=report)
    return _close(folder, recipe, trainee, state, report)


def _close(
    folder: TrainingFolder,
    recipe: GrounderRecipe,
    trainee: GrounderTrainee,
    state: TrainingState,
    report: Report,
) -> dict[str, Any]:
    """Choose the labels' weight, write the folder, and write down all that was found."""
    material = trainee.material
    weights = {
        name: value.detach().float().cpu().numpy()
        for name, value in trainee.weights.items()
        if not name.startswith(f"{ENCODER}.")
    }
    weights |= _add_labels(recipe, material, weights)
    trials = {
        weight: _measure(_make_matcher(recipe, material, weights, weight), material)
        for weight in recipe.label_weights
    }
    best = max(trials, key=lambda weight: sum(trials[weight].values()))
    _say_trials(trials, best, report)
    _write_weights(folder.path, recipe, material, weights)
    record = state.record() | {
        "recipe": asdict(recipe),
        "label_weight": best,
        "held_out": {f"recall at {cut}": value for cut, value in trials[best].items()},
        "trials": [
            {"label_weight": w, **{str(k): v for k, v in t.items()}} for w, t in trials.items()
        ],
    }
    kept = ("recipe", "data", "best", "label_weight", "held_out", "versions")
    config = _make_config(recipe, best)
    training = plain_values({name: record[name] for name in kept})
    write_config(folder.path, GrounderConfig(**(asdict(config) | {"training": training})))
    folder.close(record, FEATURES)
    return record


def _say_trials(trials: dict[float, dict[int, float]], best: float, report: Report) -> None:
    for weight, figures in trials.items() if len(trials) > 1 else ():
        said = ", ".join(f"recall at {cut} {value:.3f}" for cut, value in figures.items())
        report(f"labels at {weight:g}: {said}{' (best)' if weight == best else ''}")


def _write_weights(
    folder: Path, recipe: GrounderRecipe, material: Material, weights: dict[str, Array]
) -> None:
    """Write the towers in half precision, and the encoder where it has learned."""
    from torch import from_numpy

    if recipe.tune_encoder:
        material.encoder.net.save_pretrained(folder / ENCODER)
        material.encoder.reader.processor.save_pretrained(folder / ENCODER)
    tensors = {name: from_numpy(value) for name, value in weights.items()}
    halves = {n: t.half() if t.is_floating_point() else t for n, t in tensors.items()}
    write_tensors(folder / MODEL, halves, {})


def _make_config(recipe: GrounderRecipe, weight: float) -> GrounderConfig:
    encoder = ENCODER if recipe.tune_encoder else recipe.encoder
    calibrated = bool(recipe.background)
    return GrounderConfig(encoder, recipe.text, weight, recipe.classes, calibrated)


def _make_matcher(
    recipe: GrounderRecipe, material: Material, weights: dict[str, Array], weight: float
) -> TowerMatcher:
    config = _make_config(recipe, weight)
    return TowerMatcher(config, weights, material.encoder, material.text, "training")


def _add_labels(
    recipe: GrounderRecipe, material: Material, weights: dict[str, Array]
) -> dict[str, Array]:
    """Give the vectors of classes, and the crops that similarities are calibrated by."""
    if not any(recipe.label_weights):
        return {}
    if not isinstance(material.encoder, ImageClassifier):
        problem = f"{recipe.encoder} knows no classes that could be labels"
        raise SettingError(problem, "say label_weights = [0.0]")
    added = {CLASS_VECTORS: encode_classes(material.encoder, material.text)}
    if recipe.background:
        regions = material.table.train
        order = np.random.default_rng([recipe.seed, _BACKGROUND]).permutation(len(regions))
        crops = _cut([regions[place] for place in order[: recipe.background]])
        joint = embed(weights, "image", need(material.encoder, ImageEncoder).encode(crops))
        best = np.argsort(-material.encoder.classify(crops), axis=1, kind="stable")
        added[BACKGROUND] = normalise(joint)
        added[BACKGROUND_CLASSES] = best[:, : recipe.classes].astype(np.int16)
    return added


def _measure(matcher: TowerMatcher, material: Material) -> dict[int, float]:
    """Give the recall of the nouns of held-out regions, ranked among themselves."""
    regions = material.table.held_out[:MOST_RANKED]
    if not regions:
        return dict.fromkeys(CUTS, float("nan"))
    nouns = sorted({region.phrase for region in regions})
    crops = _cut(regions)
    # Of a crop nobody has said what it shows: the classes alone are its labels.
    views = matcher.view(crops, [Region((0.0, 0.0, 1.0, 1.0))] * len(crops))
    similarities = matcher.match(views, matcher.name(nouns))
    named = [region.phrase for region in regions]
    places = rank_own(similarities, [nouns.index(noun) for noun in named])
    return {cut: macro_recall(places, named, cut) for cut in CUTS}


def _cut(regions: list[LabelledRegion] | tuple[LabelledRegion, ...]) -> list[Array]:
    reader = PictureReader()
    return [region.cut(reader) for region in regions]
