"""Two towers in training: crops and phrases as vectors, the loss of a batch, and the trainee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.model import ImageEncoder, Model
from fabula.core.protocols import watch
from fabula.learned.grounding.recall import CUTS, macro_recall, rank_own
from fabula.learned.grounding.towers import ENCODER, SIDES, embed, encode_phrases
from fabula.learned.training.folder import read_arrays, write_arrays
from fabula.learned.training.loop import (
    Evaluation,
    Report,
    Sampler,
    Schedule,
    StagePlan,
    TrainingState,
    choose_device,
)
from fabula.learned.training.regions import LabelledRegion, RegionTable
from fabula.models import MODELS, PictureReader, load_model, model_spec, need

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from fabula.core.model import Array
    from fabula.learned.training.grounder import GrounderRecipe

FEATURES = "features.npz"
# Crops that are encoded at once, before training.
CHUNK = 64
MOST_RANKED = 2000
# Beside the seed, so that each draw has chances of its own.
_ORDER, _FLIP, _DROP = range(3)


@dataclass(frozen=True)
class Material:
    """What a trainee reads: regions, the models below, and vectors where they stay as they are.

    `features` are crops' vectors, those to learn from first; `flipped` those of mirrored crops.
    """

    table: RegionTable
    encoder: Any
    text: Model
    phrases: Array  # (regions, W), those to learn from first
    kinds: Array  # (regions,), the same number for the same phrase
    device: torch.device
    features: Array | None = None
    flipped: Array | None = None
    reader: PictureReader = field(default_factory=PictureReader)

    @classmethod
    def open(
        cls, recipe: GrounderRecipe, table: RegionTable, cache: Path, *, device: str, report: Report
    ) -> Material:
        """Load the models, and encode phrases, and crops unless their encoder is to learn."""
        # One of its own: what learns must not be what others in this process were given.
        loaded = MODELS.load(model_spec(recipe.encoder)) if recipe.tune_encoder else None
        encoder = need(loaded or load_model(recipe.encoder), ImageEncoder)
        text = load_model(recipe.text)
        regions = (*table.train, *table.held_out)
        unique = list(dict.fromkeys(region.phrase for region in regions))
        vectors = np.asarray(encode_phrases(text, unique), np.float32)
        if (unknown := np.isnan(vectors).any(axis=1)).any():
            report(f"{unknown.sum():,} of {len(unique):,} phrases are not known: 0 is their vector")
        numbers = {phrase: number for number, phrase in enumerate(unique)}
        kinds = np.array([numbers[region.phrase] for region in regions])
        phrases = np.nan_to_num(vectors)[kinds]
        made = cls(table, encoder, text, phrases, kinds, choose_device(device))
        if recipe.tune_encoder:
            return made
        arrays = made.encode_crops(cache, flips=recipe.flips, report=report)
        return cls(table, encoder, text, phrases, kinds, made.device, *arrays)

    @property
    def learned(self) -> int:
        """How many regions are to learn from."""
        return len(self.table.train)

    def cut(self, place: int, *, flip: bool = False) -> Array:
        """Give the pixels of a region, mirrored if wanted."""
        pixels = self._regions[place].cut(self.reader)
        return np.ascontiguousarray(pixels[:, ::-1]) if flip else pixels

    @cached_property
    def _regions(self) -> Sequence[LabelledRegion]:
        return (*self.table.train, *self.table.held_out)

    def encode_crops(
        self, cache: Path, *, flips: bool, report: Report
    ) -> tuple[Array, Array | None]:
        """Encode all crops once, and those to learn from mirrored; a file keeps them."""
        told = f"{self.table.about['sha256']},{self.encoder.signature},{flips}"
        if cache.is_file():
            kept = read_arrays(cache, "vectors of crops", "delete it and train again")
            if str(kept.get("about")) == told:
                return kept["features"], kept.get("flipped")
        report(f"encoding {len(self._regions):,} crops")
        features = self._encode(range(len(self._regions)), flip=False)
        arrays = {"features": features, "about": np.array(told)}
        if flips:
            arrays["flipped"] = self._encode(range(self.learned), flip=True)
        write_arrays(cache, arrays, compress=False)
        return features, arrays.get("flipped")

    def _encode(self, places: range, *, flip: bool) -> Array:
        counting = watch.get().count("crops")
        if counting:
            counting.start(len(places))
        rows = []
        for start in range(0, len(places), CHUNK):
            chunk = places[start : start + CHUNK]
            rows.append(self.encoder.encode([self.cut(place, flip=flip) for place in chunk]))
            if counting:
                counting.advance(len(chunk))
        if counting:
            counting.finish()
        return np.concatenate(rows).astype(np.float32)


@dataclass(frozen=True)
class RegionBatch:
    """Places of regions, and which of them are mirrored."""

    places: Array
    flips: Array

    @property
    def size(self) -> int:
        """Regions."""
        return len(self.places)


class GrounderTrainee:
    """Two towers as the loop trains them; with them the encoder of crops, where it learns."""

    stages, unit = range(1), "regions"

    def __init__(self, recipe: GrounderRecipe, material: Material) -> None:
        self._recipe, self.material = recipe, material
        self.weights = _start_weights(recipe, material)
        self.sampler = Sampler(self._order, recipe.rows)
        if material.learned < 2:
            raise InputError("there are fewer than two regions to learn from", "add data")

    def _order(self, epoch: int) -> list[int]:
        rng = np.random.default_rng([self._recipe.seed, _ORDER, epoch])
        order: list[int] = rng.permutation(self.material.learned).tolist()
        return order

    def begin_stage(self, number: int) -> StagePlan:
        """Make the optimiser: Adam, whose decay is that of the paper, part of the gradient."""
        import torch

        recipe, per_epoch = self._recipe, self.sampler.epoch_steps
        learning = [weight for weight in self.weights.values() if weight.requires_grad]
        groups = [{"params": learning, "scale": 1.0}]
        optimiser = torch.optim.Adam(groups, weight_decay=recipe.weight_decay)
        steps = recipe.epochs * per_epoch
        schedule = Schedule(recipe.rate, steps, decay=recipe.epoch_decay, epoch_steps=per_epoch)
        return StagePlan(optimiser, learning, schedule)

    def batch(self, step: int) -> RegionBatch:
        """Give the regions of a step; by chance one is mirrored."""
        places = np.array(self.sampler.batch(step))
        rng = np.random.default_rng([self._recipe.seed, _FLIP, step])
        return RegionBatch(places, (rng.random(len(places)) < 0.5) & self._recipe.flips)

    def learn(self, batch: RegionBatch, step: int) -> dict[str, Tensor]:
        """Add the gradients of a batch."""
        import torch

        torch.manual_seed(self._recipe.seed * 1_000_003 + step)
        loss = self._loss(batch, learning=True)
        loss.backward()  # type: ignore[no-untyped-call]
        return {"pairs": loss.detach()}

    def evaluate(self, state: TrainingState) -> Evaluation | None:
        """Measure an epoch on what is held out: the loss, and the recall of its nouns."""
        import torch

        count, rows = len(self.material.table.held_out), self._recipe.rows
        if not count:
            return None
        places = np.arange(self.material.learned, self.material.learned + count)
        batches = [places[start : start + rows] for start in range(0, count, rows)]
        with torch.no_grad():
            losses = [
                self._loss(RegionBatch(part, np.zeros(len(part), bool)), learning=False).item()
                for part in batches
            ]
            recall = self._recall(places[:MOST_RANKED])
        loss = float(np.average(losses, weights=[len(part) for part in batches]))
        row = {"epoch": state.step // self.sampler.epoch_steps, "loss": loss, **recall}
        said = ", ".join(f"{name} {value:.3f}" for name, value in recall.items())
        figure = sum(recall.values()) if self._recipe.figure == "recall" else -loss
        return Evaluation(figure, row, f", epoch {row['epoch']}: loss {loss:.4f}, {said}")

    def _recall(self, places: Array) -> dict[str, float]:
        from torch.nn.functional import normalize

        kinds = self.material.kinds[places]
        shown, first = np.unique(kinds, return_index=True)
        crops = normalize(self._embed_crops(RegionBatch(places, np.zeros(len(places), bool))))
        nouns = normalize(self._embed_nouns(places[first]))
        similarities = (crops @ nouns.T).cpu().numpy()
        ranks = rank_own(similarities, np.searchsorted(shown, kinds).tolist())
        named = [str(kind) for kind in kinds]
        return {f"recall at {cut}": macro_recall(ranks, named, cut) for cut in CUTS}

    def _loss(self, batch: RegionBatch, *, learning: bool) -> Tensor:
        import torch
        from torch.nn.functional import normalize

        recipe = self._recipe
        share = (recipe.dropout, recipe.noun_dropout) if learning else (0.0, 0.0)
        crops = self._embed_crops(batch, share[0])  # (B, joint)
        nouns = self._embed_nouns(batch.places, share[1])  # (B, joint)
        if recipe.normalise:
            crops, nouns = normalize(crops), normalize(nouns)
        kinds = torch.from_numpy(self.material.kinds[batch.places]).to(crops.device)
        return contrast(crops, nouns, kinds, recipe)

    def _embed_crops(self, batch: RegionBatch, dropout: float = 0.0) -> Tensor:
        import torch
        from torch.nn.functional import dropout as drop

        material = self.material
        if material.features is None:
            pairs = zip(batch.places.tolist(), batch.flips.tolist(), strict=True)
            crops = [material.cut(place, flip=flip) for place, flip in pairs]
            given = material.encoder.reader.prepare(crops)["pixel_values"]
            vectors = material.encoder.pool(given.to(material.device)).float()
        else:
            rows = material.features[batch.places]
            if material.flipped is not None and batch.flips.any():
                rows[batch.flips] = material.flipped[batch.places[batch.flips]]
            vectors = torch.from_numpy(rows).to(material.device)
        mean = self.weights["image.mean"]
        # What is dropped becomes the mean, which is 0 once it is standardised.
        vectors = mean + drop(vectors - mean, dropout, training=dropout > 0)
        embedded: Tensor = embed(self.weights, "image", vectors, tanh=torch.tanh)
        return embedded

    def _embed_nouns(self, places: Array, dropout: float = 0.0) -> Tensor:
        import torch
        from torch.nn.functional import dropout as drop

        vectors = torch.from_numpy(self.material.phrases[places]).to(self.material.device)
        mean = self.weights["noun.mean"]
        vectors = mean + drop(vectors - mean, dropout, training=dropout > 0)
        embedded: Tensor = embed(self.weights, "noun", vectors, tanh=torch.tanh)
        return embedded


def contrast(crops: Tensor, nouns: Tensor, kinds: Tensor, recipe: GrounderRecipe) -> Tensor:
    """Loss of a batch of m pairs: cross-entropy of soft targets, both ways (RoViST, algorithm 1).

    logits = τ · T·Iᵀ; targets = softmax(τ · (I·Iᵀ + T·Tᵀ) / 2) in the code, without the softmax in
    the paper. For texts, −Σ targets · log softmax(logits) over a row; for images the same of both
    transposed, so that their targets do not add up to 1.
    """
    import torch

    logits = recipe.temperature * nouns @ crops.T  # (m, m): a row a noun
    if recipe.targets == "pairs":
        targets = torch.eye(len(crops), device=crops.device)
    elif recipe.targets == "same":
        alike = (kinds[:, None] == kinds[None]).float()
        targets = alike / alike.sum(dim=1, keepdim=True)
    else:
        targets = recipe.temperature * (crops @ crops.T + nouns @ nouns.T) / 2
        targets = targets.softmax(dim=-1) if recipe.targets == "code" else targets
    if recipe.detach:
        targets = targets.detach()
    texts = -(targets * logits.log_softmax(dim=-1)).sum(dim=1)
    images = -(targets.T * logits.T.log_softmax(dim=-1)).sum(dim=1)
    loss: Tensor = ((texts + images) / 2).mean()
    return loss


def _start_weights(recipe: GrounderRecipe, material: Material) -> dict[str, Tensor]:
    """Draw the towers as torch draws linear layers; means and deviations stay as they are."""
    import torch

    generator = torch.Generator().manual_seed(recipe.seed)
    learned = material.learned
    sides = (material.features, material.phrases)
    widths = (material.encoder.width, material.phrases.shape[1])
    weights: dict[str, Tensor] = {}
    for side, vectors, width in zip(SIDES, sides, widths, strict=True):
        mean, deviation = np.zeros(width, np.float32), np.ones(width, np.float32)
        if recipe.standardise and vectors is not None:
            mean = vectors[:learned].mean(axis=0)
            deviation = vectors[:learned].std(axis=0) + np.float32(1e-3)
        weights[f"{side}.mean"] = torch.from_numpy(mean)
        weights[f"{side}.deviation"] = torch.from_numpy(deviation)
        bound = width**-0.5
        for part, shape in (("weight", (width, recipe.joint)), ("bias", (recipe.joint,))):
            drawn = (torch.rand(shape, generator=generator) * 2 - 1) * bound
            weights[f"{side}.{part}"] = drawn
    weights = {name: value.to(material.device) for name, value in weights.items()}
    for name in weights:
        weights[name].requires_grad_(name.endswith(("weight", "bias")))
    return weights | (_open_encoder(material) if recipe.tune_encoder else {})


def _open_encoder(material: Material) -> dict[str, Tensor]:
    """Let the encoder of crops learn; give its weights."""
    if not hasattr(material.encoder, "net"):
        problem = f"{material.encoder.signature} cannot learn"
        raise SettingError(problem, "take an encoder that transformers reads")
    net = material.encoder.net.to(material.device).train()
    # What no crop passes through, such as a classifier's last layer, is left as it is.
    body = dict(net.base_model.named_parameters())
    return {f"{ENCODER}.{name}": weight.requires_grad_(True) for name, weight in body.items()}
