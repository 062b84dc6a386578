"""How a joint training does on prompts it did not learn from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fabula.learned.joint.config import CONFIDENCE, RATINGS
from fabula.learned.training.storyer_joint_batches import Deck
from fabula.learned.training.storyer_joint_data import RatedItem
from fabula.learned.training.storyer_joint_model import JointModel
from fabula.meta.coefficients import spearman

Array = np.ndarray[Any, np.dtype[Any]]
_RECALLED = 3  # aspects that are guessed


def evaluate_joint(model: JointModel, deck: Deck) -> dict[str, float]:
    """Give figures of held-out data: those of pairs, of aspects and of comments, and the loss."""
    import torch

    model.network.net.eval()
    found: dict[str, float] = {}
    with torch.inference_mode():
        found |= _mean_losses(model, deck)
        with model.network.autocast():
            if model.recipe.prefers and deck.data.pairs:
                found |= _pair_figures(model, deck)
            if model.recipe.aspects and deck.data.items:
                found |= _aspect_figures(model, deck.data.items)
    return {name: value for name, value in found.items() if not np.isnan(value)}


def pair_figures(gaps: Sequence[Array], *, compat: bool = False) -> dict[str, float]:
    """Give accuracy and distance of pairs from p_better - p_worse, batch by batch.

    A tie is no win. With compat the distance is the mean of the batches' means, in which a last
    small batch weighs as much as the others.
    """
    flat = np.concatenate(gaps)
    distance = np.mean([one.mean() for one in gaps]) if compat else flat.mean()
    return {"accuracy": float(np.mean(flat > 0)), "distance": float(distance)}


def recall_at(logits: Array, chosen: Sequence[Sequence[int]], count: int) -> float:
    """Share of the aspects that readers chose among the `count` with the highest logits."""
    best = np.argsort(-logits, axis=1, kind="stable")[:, :count]
    found = sum(len({*one} & {*row.tolist()}) for one, row in zip(chosen, best, strict=True))
    return found / sum(len(one) for one in chosen)


def figure_of(found: dict[str, float]) -> float:
    """Give the one figure that tells which weights are best, the higher the better."""
    return found["accuracy"] if "accuracy" in found else -found["loss"]


def preference_logits(model: JointModel, texts: Sequence[str]) -> Array:
    """Give the preference logit of every text, in as many passes as training takes."""
    import torch

    model.network.net.eval()
    size = model.recipe.at_once or model.recipe.rows
    parts = [np.zeros(0)]
    with torch.inference_mode(), model.network.autocast():
        for start in range(0, len(texts), size):
            parts.append(model.preferences(texts[start : start + size]).double().cpu().numpy())
    return np.concatenate(parts)


def _mean_losses(model: JointModel, deck: Deck) -> dict[str, float]:
    """Give every loss as a mean over batches, and their sum."""
    sums: dict[str, list[float]] = {}
    for batch in deck.whole():
        here: dict[str, float] = {}
        for part in ("pairs", "aspects", "comments"):
            for losses in model.losses(batch, part):
                for name, loss in losses.items():
                    here[name] = here.get(name, 0.0) + float(loss)
        for name, value in here.items():
            sums.setdefault(name, []).append(value)
    means = {f"loss.{name}": float(np.mean(values)) for name, values in sums.items()}
    return means | {"loss": float(sum(means.values()))}


def _pair_figures(model: JointModel, deck: Deck) -> dict[str, float]:
    gaps = []
    for batch in deck.whole():
        if batch.worse:
            logits = preference_logits(model, [*batch.better, *batch.worse])
            better, worse = np.split(1 / (1 + np.exp(-logits)), 2)
            gaps.append(better - worse)
    return pair_figures(gaps, compat=model.recipe.compat)


def _aspect_figures(model: JointModel, items: Sequence[RatedItem]) -> dict[str, float]:
    size = model.recipe.at_once or model.recipe.rows
    said: dict[str, list[Array]] = {CONFIDENCE: [], RATINGS: []}
    for start in range(0, len(items), size):
        opinions = model.opinions([item.story for item in items[start : start + size]])
        for name, logits in opinions.items():
            said[name].append(logits.double().cpu().numpy())
    ratings = np.concatenate(said[RATINGS])[np.arange(len(items)), [one.aspect for one in items]]
    recall = recall_at(np.concatenate(said[CONFIDENCE]), [one.chosen for one in items], _RECALLED)
    agreed = spearman(ratings, np.array([one.rating for one in items]))
    return {"rating": float(agreed), f"recall_at_{_RECALLED}": recall}
