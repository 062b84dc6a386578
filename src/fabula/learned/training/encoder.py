"""Train the story encoder: a masked language model warms MiniLM up on stories."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import SettingError, UnknownName, closest
from fabula.core.files import write_text
from fabula.learned.training.bert import (
    WORD_EMBEDDINGS,
    Shape,
    config_of,
    encode,
    guess,
    load_weights,
    read_shape,
)
from fabula.learned.training.corpus import TokenCorpus
from fabula.learned.training.encoder_batches import (
    Guessed,
    Masked,
    evaluate_guesses,
    fill_spans,
    held_out_batches,
    join_sets,
    mask_tokens,
    sample_rows,
)
from fabula.learned.training.folder import (
    MODEL,
    TrainingFolder,
    plain_values,
    save_model,
)
from fabula.learned.training.loop import (
    Evaluation,
    LoopConfig,
    Report,
    Schedule,
    StagePlan,
    TrainingState,
    choose_device,
    mix_precision,
    put_on,
    run_training,
)
from fabula.learned.training.recipe import require_least, require_shares

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_TOKENISER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json",
)  # fmt: skip


@dataclass(frozen=True)
class EncoderRecipe:
    """How the story encoder is warmed up with a masked language model.

    Sources are data sets, `name` or `name:system`. Held-out stories are drawn from data sets too;
    nothing that resembles them, nor a story of the data sets left out, is trained on.
    """

    sources: tuple[str, ...] = ("rocstories", "writingprompts")
    held_out: Mapping[str, int] = field(
        default_factory=lambda: {"rocstories": 1500, "writingprompts": 300}
    )
    left_out: tuple[str, ...] = ("coherence", "hanna", "mans", "storyer_ratings", "union")
    seed: int = 1
    split_seed: int = 0  # of the held-out stories, which stay the same for every training
    steps: int = 17_818
    rows: int = 128  # sequences in a batch
    window: int = 256  # tokens in a sequence
    mask_rate: float = 0.15
    peak_rate: float = 5e-4
    warmup: float = 0.06  # share of all steps
    weight_decay: float = 0.01
    beta2: float = 0.98
    clip: float = 1.0
    dropout: float = 0.1
    frozen: tuple[str, ...] = (WORD_EMBEDDINGS,)  # names of weights that stay as they are
    patience: int = 0  # evaluations without a better one before it stops; 0: never
    evaluate_every: int = 500
    checkpoint_every: int = 500
    report_every: int = 50
    compile: bool = False

    def __post_init__(self) -> None:
        require_least(self, steps=1, rows=1, window=8, patience=0)
        require_least(self, evaluate_every=1, checkpoint_every=1, report_every=1)
        require_shares(self, "mask_rate", "warmup", "dropout", "weight_decay", "beta2")
        if self.mask_rate == 0 or self.peak_rate <= 0 or self.clip <= 0:
            raise SettingError("mask_rate, peak_rate and clip must be above 0", "mend the recipe")
        if not self.sources:
            raise SettingError("sources names no data set", "name one, such as rocstories")

    @property
    def loop(self) -> LoopConfig:
        """What the loop needs to know."""
        return LoopConfig(
            self.clip, self.patience, self.evaluate_every, self.checkpoint_every, self.report_every
        )


def train_encoder(
    recipe: EncoderRecipe,
    corpus: TokenCorpus,
    *,
    start: Path,
    out: Path,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train from the encoder in `start`, leave the best weights in `out`, give training.json."""
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    shape, place = read_shape(start), choose_device(device)
    weights = load_weights(start, shape, seed=recipe.seed)
    trainee = EncoderTrainee(MaskedEncoder(weights, shape, recipe=recipe, device=place), corpus)
    state = TrainingState(plain_values(recipe), plain_values(corpus.describe()))
    run_training(trainee, state, recipe.loop, folder=folder, report=report)

    save_model(out / MODEL, trainee.weights, {"step": state.history[state.best]["step"]})
    for name in _TOKENISER_FILES:
        if (start / name).is_file():
            shutil.copyfile(start / name, out / name)
    write_text(out / "config.json", json.dumps(config_of(shape), indent=1) + "\n")
    masking = {
        "training": f"{recipe.mask_rate:.0%} of the tokens, chosen anew each step: "
        "80 % [MASK], 10 % any token, 10 % unchanged",
        "evaluation": f"{recipe.mask_rate:.0%} of the tokens, always the same: [MASK]",
    }
    record = state.record() | {"epochs": trainee.sampler.epoch, "tokens_seen": state.seen}
    record |= {"masking": masking, "device": str(place)}
    folder.close(record)
    return record


class MaskedEncoder:
    """An encoder that guesses hidden tokens: weights by name, of which those not frozen learn."""

    def __init__(
        self,
        weights: Mapping[str, Tensor],
        shape: Shape,
        *,
        recipe: EncoderRecipe,
        device: torch.device,
    ) -> None:
        import torch

        for name in recipe.frozen:
            if name not in weights:
                raise UnknownName(f"no weights are called {name!r}", closest(name, weights))
        self.shape, self.recipe, self.device = shape, recipe, device
        self.weights = {name: value.to(device) for name, value in weights.items()}
        self.trained = {k: w for k, w in self.weights.items() if k not in recipe.frozen}
        for value in self.trained.values():
            value.requires_grad_()
        self._encode: Callable[..., Tensor] = torch.compile(encode) if recipe.compile else encode

    def loss(self, masked: Masked) -> Tensor:
        """Mean cross-entropy of the hidden tokens."""
        from torch.nn import functional

        with mix_precision(self.device):
            logits = self._logits(self._encode, masked, dropout=self.recipe.dropout)  # (M, V)
            return functional.cross_entropy(logits.float(), put_on(self.device, masked.labels))

    def evaluate(self, held: Mapping[str, Sequence[Masked]]) -> dict[str, Guessed]:
        """Say how often hidden tokens are guessed, by held-out set."""
        return {name: evaluate_guesses(batches, self._guess) for name, batches in held.items()}

    def _guess(self, masked: Masked) -> Tensor:
        import torch

        with torch.no_grad(), mix_precision(self.device):
            return self._logits(encode, masked)

    def _logits(
        self, encoder: Callable[..., Tensor], masked: Masked, *, dropout: float = 0.0
    ) -> Tensor:
        """Give logits at the hidden tokens alone: (M, V)."""
        arrays = (masked.ids, masked.batch.positions, masked.batch.segments)
        ids, positions, segments = (put_on(self.device, array) for array in arrays)
        states = encoder(self.weights, ids, positions, segments, shape=self.shape, dropout=dropout)
        hidden = states.flatten(0, 1)[put_on(self.device, masked.places)]  # (M, H)
        return guess(self.weights, hidden, self.shape)


class EncoderTrainee:
    """A masked encoder as the loop trains it: on rows of a corpus, evaluated on the rest."""

    stages, unit = range(1), "tokens"

    def __init__(self, model: MaskedEncoder, corpus: TokenCorpus) -> None:
        self.model, self.weights, self._recipe = model, model.weights, model.recipe
        self._tokens = join_sets(list(corpus.train.values()))
        self.sampler = sample_rows(self._tokens, self._recipe)
        self._held = {
            name: held_out_batches(tokens, self._recipe) for name, tokens in corpus.held_out.items()
        }

    def begin_stage(self, number: int) -> StagePlan:
        """Make the optimiser; biases and norms do not decay."""
        import torch

        recipe, learning = self._recipe, list(self.model.trained.values())
        groups: list[dict[str, Any]] = [
            {
                "params": [value for value in learning if (value.ndim > 1) == decays],
                "weight_decay": recipe.weight_decay if decays else 0.0,
                "scale": 1.0,
            }
            for decays in (True, False)
        ]
        fused = self.model.device.type == "cuda"
        optimiser = torch.optim.AdamW(groups, betas=(0.9, recipe.beta2), fused=fused)
        warmup = max(1, round(recipe.warmup * recipe.steps))
        return StagePlan(optimiser, learning, Schedule(recipe.peak_rate, recipe.steps, warmup))

    def batch(self, step: int) -> Masked:
        """Give rows of stories with tokens hidden anew."""
        recipe = self._recipe
        batch = fill_spans(self.sampler.batch(step), self._tokens, recipe.window)
        rng = np.random.default_rng([recipe.seed, step + 1, 1])
        vocabulary = self.model.shape.vocab_size
        return mask_tokens(batch, rng, rate=recipe.mask_rate, vocabulary=vocabulary)

    def learn(self, batch: Masked, step: int) -> dict[str, Tensor]:
        """Add the gradients of a batch."""
        import torch

        torch.manual_seed(self._recipe.seed * 1_000_003 + step)  # for dropout
        loss = self.model.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return {"guesses": loss.detach()}

    def evaluate(self, state: TrainingState) -> Evaluation:
        """Say how often hidden tokens of held-out stories are guessed; the mean counts."""
        guessed = self.model.evaluate(self._held)
        mean = mean_top1(guessed)
        values = {name: guess.plain() for name, guess in guessed.items()}
        row = {"step": state.step, "mean_top1": mean, "held_out": values}
        said = [f"{name} {g.top1.value:.3f}/{g.top5.value:.3f}" for name, g in guessed.items()]
        return Evaluation(mean, row, f", top-1/top-5: {', '.join(said)}")


def mean_top1(guessed: Mapping[str, Guessed]) -> float:
    """Give the number by which the best weights are told: the mean over held-out sets."""
    return float(np.mean([guess.top1.value for guess in guessed.values()]))
