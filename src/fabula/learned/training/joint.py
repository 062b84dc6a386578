"""Train StoryER's whole model: ranking, rating and commenting at once, on one backbone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.joint.config import (
    CONFIDENCE,
    HEADS_FILE,
    PREFERENCE,
    RATINGS,
    JointConfig,
    write_joint_config,
)
from fabula.learned.reader.domain import describe_domain
from fabula.learned.training.folder import (
    TrainingFolder,
    find_versions,
    plain_values,
    write_tensors,
)
from fabula.learned.training.joint_data import (
    JointBatch,
    JointData,
    JointSampler,
    RatedItem,
    part_data,
    prompt_key,
)
from fabula.learned.training.joint_model import JointModel, begin_joint
from fabula.learned.training.joint_recipe import JointRecipe
from fabula.learned.training.loop import (
    Evaluation,
    Report,
    Schedule,
    StagePlan,
    TrainingState,
    choose_device,
    run_training,
)
from fabula.meta.coefficients import spearman
from fabula.meta.resampling import estimate_mean

if TYPE_CHECKING:
    from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]

_PARTS = ("pairs", "aspects", "comments")
_RESAMPLES = 1000
_RECALLED = 3  # aspects that are guessed
_LEAST_STORIES = 50  # for percentiles to mean anything
_DESCRIBED = 5000  # stories that the domain is described by


def train_joint(
    recipe: JointRecipe,
    data: JointData,
    *,
    out: Path,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train on the recipe's backbone, leave a folder that readers load, give training.json."""
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    place = choose_device(device)
    learned, held = (JointSampler(part, recipe) for part in part_data(data, recipe))
    _check(learned)
    model = begin_joint(recipe, place)
    state = TrainingState(plain_values(recipe), data.describe())
    trainee = JointTrainee(model, learned, held)
    run_training(trainee, state, recipe.loop, folder=folder, report=report)
    record = state.record() | {"versions": find_versions("transformers"), "device": str(place)}
    record["held_out_pairs"] = estimate_accuracy(model, held)
    _write_reader(out, model, learned, held, record=record)
    folder.close(record)
    return record


class JointTrainee:
    """StoryER's model as the loop trains it: pairs and comments, evaluated on held-out prompts."""

    stages, unit = range(1), "rows"

    def __init__(self, model: JointModel, learned: JointSampler, held: JointSampler) -> None:
        self.model, self.weights = model, model.weights
        self._learned, self._held = learned, held

    def begin_stage(self, number: int) -> StagePlan:
        """Make the optimiser; the rate rises for a share of the steps, or for some epochs."""
        import torch

        recipe, parameters = self.model.recipe, list(self.weights.values())
        optimiser = torch.optim.AdamW(
            [{"params": parameters, "scale": 1.0}],
            eps=recipe.epsilon,
            weight_decay=recipe.weight_decay,
            fused=self.model.network.device.type == "cuda",
        )
        steps, epochs = self._learned.steps, recipe.warmup_epochs
        warmup = epochs * self._learned.steps_per_epoch if epochs else recipe.warmup * steps
        schedule = Schedule(recipe.rate, steps, min(max(1, round(warmup)), steps))
        return StagePlan(optimiser, parameters, schedule)

    def batch(self, step: int) -> JointBatch:
        """Give the pairs and the rated comments of a step."""
        return self._learned.batch(step)

    def learn(self, batch: JointBatch, step: int) -> dict[str, Tensor]:
        """Add the gradients of a batch; give the losses by part.

        Parts and rows go through the network one after the other, so that each may fill the memory.
        """
        import torch

        self.model.network.net.train()
        sums: dict[str, Tensor] = {}
        for part in _PARTS:
            # Dropout in one part must not hang on whether another is switched on.
            key = f"{self.model.recipe.seed} {step} {part}".encode()
            digest = hashlib.blake2b(key, digest_size=7).digest()
            torch.manual_seed(int.from_bytes(digest, "big"))
            for losses in self.model.losses(batch, part):
                torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
                for name, loss in losses.items():
                    sums[name] = sums[name] + loss.detach() if name in sums else loss.detach()
        return sums

    def evaluate(self, state: TrainingState) -> Evaluation | None:
        """Give figures of held-out prompts; accuracy on pairs counts, else the loss."""
        if self._held.is_empty:
            return None
        figures = evaluate_joint(self.model, self._held)
        figure = figures["accuracy"] if "accuracy" in figures else -figures["loss"]
        row = {"step": state.step, "figure": figure, "held_out": figures}
        said = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        return Evaluation(figure, row, f": {said}")


def _check(learned: JointSampler) -> None:
    recipe = learned.recipe
    if recipe.prefers and not learned.data.pairs:
        raise InputError("there are no pairs to learn from", "check pairs, or leave out ranking")
    if recipe.speaks and not learned.items:
        raise InputError("there are no rated comments", "check items, or leave out aspects")


def _write_reader(
    out: Path, model: JointModel, learned: JointSampler, held: JointSampler, *, record: Any
) -> None:
    """Write what readers load."""
    network, recipe = model.network, model.recipe
    network.save(out)
    heads = {f"head.{name}": value for name, value in network.heads.state_dict().items()}
    write_tensors(out / HEADS_FILE, heads, {"step": record["steps"]})
    trained = [PREFERENCE] * recipe.prefers + [RATINGS, CONFIDENCE] * recipe.aspects
    about = JointConfig(
        backbone=Path(recipe.backbone).name if Path(recipe.backbone).is_dir() else recipe.backbone,
        max_tokens=recipe.max_tokens,
        heads=tuple(trained),
        comments=recipe.comments,
        comment_tokens=recipe.comment_tokens,
        negatives=recipe.negatives,
        layout="cleaned" if recipe.cleaned else "given",
        percentiles=_percentiles(model, held),
        usual=_usual_ratings(learned.data.items),
        domain=describe_domain(_sample_stories(learned.data)),
        training={name: record[name] for name in ("data", "seed", "best", "versions")}
        | {"licence": recipe.licence},
    )
    write_joint_config(out, about)


def _percentiles(model: JointModel, held: JointSampler) -> tuple[float, ...] | None:
    """Give where held-out stories stand, if there are enough of them and pairs were learned."""
    texts = list(dict.fromkeys(t for p in held.data.pairs for t in (p.better.text, p.worse.text)))
    if not model.recipe.prefers or len(texts) < _LEAST_STORIES:
        return None
    points = np.percentile(preference_logits(model, texts), np.arange(101))
    return tuple(points.tolist())


def _usual_ratings(items: Sequence[RatedItem]) -> dict[str, float]:
    """Give the mean rating of every aspect that was rated, from 1 to 5."""
    by_aspect: dict[int, list[float]] = {}
    for item in items:
        by_aspect.setdefault(item.aspect, []).append(1 + 4 * item.rating)
    return {ASPECTS[at]: float(np.mean(values)) for at, values in sorted(by_aspect.items())}


def _sample_stories(data: JointData) -> list[str]:
    texts = [text for pair in data.pairs for text in (pair.better.text, pair.worse.text)]
    stories = list(dict.fromkeys([*texts, *(item.story for item in data.items)]))
    return stories[:: -(-len(stories) // _DESCRIBED) or 1]


def evaluate_joint(model: JointModel, held: JointSampler) -> dict[str, float]:
    """Give figures of held-out data: those of pairs, of aspects and of comments, and the loss."""
    import torch

    model.network.net.eval()
    figures: dict[str, float] = {}
    with torch.inference_mode():
        figures |= _mean_losses(model, held)
        with model.network.autocast():
            if model.recipe.prefers and held.data.pairs:
                figures |= _pair_figures(model, held)
            if model.recipe.aspects and held.data.items:
                figures |= _aspect_figures(model, held.data.items)
    return {name: value for name, value in figures.items() if not np.isnan(value)}


def pair_figures(gaps: Sequence[Array], *, compat: bool = False) -> dict[str, float]:
    """Give accuracy and distance of pairs from p_better - p_worse, batch by batch.

    A tie is no win. With compat the distance is the mean of the batches' means, in which a last
    small batch weighs as much as the others.
    """
    flat = np.concatenate(gaps)
    distance = np.mean([gap.mean() for gap in gaps]) if compat else flat.mean()
    return {"accuracy": float(np.mean(flat > 0)), "distance": float(distance)}


def estimate_accuracy(model: JointModel, held: JointSampler) -> dict[str, float | None]:
    """Give the accuracy on held-out pairs with its 95 % interval, by drawing prompts anew.

    Nothing where none were held out, or none were learned from; of few prompts None for the ends.
    """
    pairs = held.data.pairs
    if not (model.recipe.prefers and pairs):
        return {}
    texts = [*(pair.better.text for pair in pairs), *(pair.worse.text for pair in pairs)]
    better, worse = np.split(preference_logits(model, texts), 2)
    prompts = [prompt_key(pair.better, "pairs") for pair in pairs]
    wins = estimate_mean((better > worse).astype(float), prompts, resamples=_RESAMPLES)
    ends = [None if np.isnan(end) else end for end in (wins.low, wins.high)]
    counts = {"pairs": len(pairs), "prompts": len({*prompts})}
    return {"value": wins.value, "low": ends[0], "high": ends[1], **counts}


def recall_at(logits: Array, chosen: Sequence[Sequence[int]], count: int) -> float:
    """Share of the aspects that readers chose among the `count` with the highest logits."""
    best = np.argsort(-logits, axis=1, kind="stable")[:, :count]
    hits = sum(len({*aspects} & {*row.tolist()}) for aspects, row in zip(chosen, best, strict=True))
    return hits / sum(len(aspects) for aspects in chosen)


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


def _mean_losses(model: JointModel, held: JointSampler) -> dict[str, float]:
    """Give every loss as a mean over batches, and their sum."""
    sums: dict[str, list[float]] = {}
    for batch in held.batches_in_order():
        here: dict[str, float] = {}
        for part in _PARTS:
            for losses in model.losses(batch, part):
                for name, loss in losses.items():
                    here[name] = here.get(name, 0.0) + float(loss)
        for name, value in here.items():
            sums.setdefault(name, []).append(value)
    means = {f"loss.{name}": float(np.mean(values)) for name, values in sums.items()}
    return means | {"loss": float(sum(means.values()))}


def _pair_figures(model: JointModel, held: JointSampler) -> dict[str, float]:
    gaps = []
    for batch in held.batches_in_order():
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
