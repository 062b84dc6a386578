"""Train a co-author: a causal language model learns to go on from a prompt as stories do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.training.author_batches import (
    AuthorBatch,
    StoryTokens,
    fill_rows,
    pack_pieces,
    part_attention,
    require_parting,
)
from fabula.learned.training.author_data import AuthorData
from fabula.learned.training.author_lora import add_differences, save_differences
from fabula.learned.training.folder import (
    TrainingFolder,
    find_versions,
    plain_values,
)
from fabula.learned.training.loop import (
    Evaluation,
    LoopConfig,
    Report,
    Sampler,
    Schedule,
    StagePlan,
    TrainingState,
    choose_device,
    mix_precision,
    put_on,
    run_training,
)
from fabula.learned.training.recipe import require_least, require_shares
from fabula.models.networks.word_head import find_word_head

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from fabula.learned.training.author_games import GamesData
    from fabula.models.networks.checkpoint import Checkpoint

ADAPTER = "adapter"  # folder of the difference alone, as peft keeps it
_OPEN_ROWS = 16
_Z = 1.959964


@dataclass(frozen=True)
class AuthorRecipe:
    """How a causal language model is adapted to stories.

    Sources are data sets by name, tables with texts and prompts, or plain texts. With a `rank`
    the weights stay and a difference of that rank is learned beside each of the `targets` (LoRA);
    with rank 0 all weights learn.
    """

    sources: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # data sets: what resembles their stories is not learned from
    model: str = "embedded('smollm2')"
    tag: str = "***"  # line between prompt and story; "": none
    loss: Literal["story", "all"] = "story"  # which tokens are learned from: the prompt's too?
    cleaned: bool = True  # tokens joined, mark-up and notes around forum posts dropped
    cased: bool = True  # leave out stories in small letters, or with masked names
    on: Literal["all", "liked", "disliked"] = "all"  # which side of pairs is learned from
    plan: bool = False  # a line of plot words before every story, learned with it

    rank: int = 16
    alpha: float = 32.0  # the difference is multiplied by alpha / rank
    targets: tuple[str, ...] = ()  # names of layers, such as q_proj; none: all linear ones
    lora_dropout: float = 0.0

    window: int = 1024  # tokens in a row
    rows: int = 32  # in a batch
    at_once: int = 8  # rows that pass through the network together
    packed: bool = True  # several stories in a row, which do not see each other
    epochs: float = 2.0
    rate: float = 1e-3
    warmup: float = 0.05  # share of all steps
    weight_decay: float = 0.01
    clip: float = 1.0
    seed: int = 1
    split_seed: int = 0
    held_out: float = 0.05  # share of each source that is evaluated, not learned from
    most_held: int = 300  # stories of a source
    patience: int = 0  # evaluations without a better one before it stops; 0: never
    evaluate_every: int = 50
    checkpoint_every: int = 50
    report_every: int = 10
    licence: str = "that of the texts it was trained on"

    def __post_init__(self) -> None:
        require_least(self, window=16, rows=1, at_once=1, rank=0, patience=0, most_held=0)
        require_least(self, evaluate_every=1, checkpoint_every=1, report_every=1, clip=0)
        require_shares(self, "warmup", "held_out", "weight_decay", "lora_dropout")
        if min(self.rate, self.epochs, self.alpha) <= 0:
            raise SettingError("rate, epochs and alpha must be above 0", "mend the recipe")
        if "\n" in self.tag:
            raise SettingError("the tag is one line", "mend the recipe")

    @property
    def loop(self) -> LoopConfig:
        """What the loop needs to know."""
        return LoopConfig(
            self.clip, self.patience, self.evaluate_every, self.checkpoint_every, self.report_every
        )


def open_model(spec: str) -> Checkpoint:
    """Give the checkpoint of a causal model, in full precision."""
    from fabula.models import load_model
    from fabula.models.networks.causal import CausalModel

    model = load_model(spec)
    if not isinstance(model, CausalModel):
        raise SettingError(f"{spec} is no causal language model", "say embedded('smollm2')")
    return replace(model.checkpoint, dtype="fp32")


def train_author(
    recipe: AuthorRecipe,
    data: AuthorData,
    *,
    out: Path,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Adapt the recipe's model to stories, leave the whole model in `out`, give training.json."""
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    place = choose_device(device)
    checkpoint = open_model(recipe.model)
    author = TrainedAuthor(checkpoint, recipe, place)
    trainee = AuthorTrainee(author, data)
    before = trainee.measure()
    if before:
        report(f"held out before{_words(before)}")
    state = TrainingState(plain_values(recipe), plain_values(data.describe()))
    run_training(trainee, state, recipe.loop, folder=folder, report=report)

    author.save(out)
    versions = find_versions("transformers", *(["peft"] if recipe.rank else []))
    record = state.record() | {"model": checkpoint.identity, "versions": versions}
    record |= {"before": before, "epochs": trainee.sampler.epoch, "tokens_seen": state.seen}
    record |= {"learned_weights": author.size, "device": str(place)}
    folder.close(record)
    return record


class TrainedAuthor:
    """A causal model of which all weights learn, or the low-rank differences that peft adds."""

    def __init__(self, checkpoint: Checkpoint, recipe: AuthorRecipe, device: torch.device) -> None:
        import torch

        if checkpoint.limit and recipe.window > checkpoint.limit:
            problem = f"{checkpoint.name} reads at most {checkpoint.limit} tokens"
            raise SettingError(problem, f"say window = {checkpoint.limit} in the recipe")
        torch.manual_seed(recipe.seed)  # for the differences, which begin at random
        self.checkpoint, self.recipe, self.device = checkpoint, recipe, device
        self.net = self._load()
        require_parting(self.net, checkpoint.name, device)
        # Differences alone where they are learned: the rest is the checkpoint's and stays.
        self.weights = {
            name: weight for name, weight in self.net.named_parameters() if weight.requires_grad
        }

    def _load(self) -> Any:
        """Load the model, with low-rank differences beside its layers if these are to learn."""
        net = self.checkpoint.model("AutoModelForCausalLM").to(self.device)
        name = self.checkpoint.name
        return add_differences(net, self.recipe, name) if self.recipe.rank else net

    def _inputs(self, batch: AuthorBatch, ids: Tensor) -> dict[str, Tensor]:
        """What the network reads of a batch: numbers of tokens, or their embeddings."""
        return {"input_ids": ids}

    @property
    def size(self) -> int:
        """How many numbers are learned."""
        return sum(weight.numel() for weight in self.weights.values())

    def losses(self, batch: AuthorBatch) -> Tensor:
        """Give the cross-entropy of every token that counts, in the batch's order: (N,)."""
        import torch
        from torch.nn import functional

        ids, positions, segments = (
            put_on(self.device, array) for array in (batch.ids, batch.positions, batch.segments)
        )
        # A token's loss stands at the place before it. Found here: a GPU that is asked which tokens
        # count must be waited for.
        counted = np.flatnonzero(np.pad(batch.counts[:, 1:], ((0, 0), (0, 1))))
        places, wanted = (
            put_on(self.device, array) for array in (counted, batch.ids.ravel()[counted + 1])
        )
        kind = torch.bfloat16 if self.device.type == "cuda" else torch.float32
        with mix_precision(self.device):
            logits = self._logits(
                places,
                **self._inputs(batch, ids),
                attention_mask=part_attention(segments, kind),
                position_ids=positions,
            )  # (N, V)
        return functional.cross_entropy(logits.float(), wanted, reduction="none")

    def _logits(self, places: Tensor, **given: Tensor) -> Tensor:
        """Give the logits at places of the rows, laid end to end; of no others, if that can be."""
        if self._word_head is None:
            whole: Tensor = self.net(**given, use_cache=False).logits  # (B, T, V)
            return whole.flatten(0, 1)[places]
        body = self._causal.base_model
        states: Tensor = body(**given, use_cache=False).last_hidden_state  # (B, T, H)
        logits: Tensor = self._word_head(states.flatten(0, 1)[places])
        return logits

    @property
    def _causal(self) -> Any:
        """The model itself, with the differences that peft has put into it."""
        return self.net.get_base_model() if self.recipe.rank else self.net

    @cached_property
    def _word_head(self) -> Any:
        return find_word_head(self._causal)

    def save(self, folder: Path) -> None:
        """Write the whole model as transformers reads it, and differences by themselves."""
        import torch
        import transformers

        net = self.net
        if self.recipe.rank:
            save_differences(net, folder / ADAPTER)
            net = net.merge_and_unload()
        net.config._name_or_path = ""  # a folder of this machine is nobody else's
        logging: Any = transformers.utils.logging
        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        net.to(torch.float16).save_pretrained(folder)
        self.checkpoint.tokenizer.save_pretrained(folder)
        if shown:
            logging.enable_progress_bar()
        for file in folder.glob("*.safetensors"):
            file.chmod(file.stat().st_mode | 0o444)  # safetensors lets only the owner read it


class AuthorTrainee:
    """A co-author as the loop trains it: on rows of stories, evaluated on those held out."""

    stages, unit = range(1), "tokens"

    def __init__(self, author: TrainedAuthor, data: AuthorData | GamesData) -> None:
        self.author, self.weights, self._recipe = author, author.weights, author.recipe
        self._tokens, self._held = data.train, data.held_out
        self.sampler = self._sample_rows()

    def _sample_rows(self) -> Sampler[Any]:
        recipe, pieces = self._recipe, self._tokens.pieces(self._recipe.window)

        def order(epoch: int) -> list[Any]:
            rng = np.random.default_rng([recipe.seed, epoch])
            shuffled = [pieces[number] for number in rng.permutation(len(pieces))]
            open_rows = _OPEN_ROWS if recipe.packed else 0
            rows = pack_pieces(shuffled, recipe.window, open_rows=open_rows)
            return [rows[number] for number in rng.permutation(len(rows))]

        return Sampler(order, recipe.rows, keep_last=True)

    def begin_stage(self, number: int) -> StagePlan:
        """Make the optimiser; biases and norms do not decay."""
        import torch

        recipe, learning = self._recipe, list(self.weights.values())
        groups: list[dict[str, Any]] = [
            {
                "params": [weight for weight in learning if (weight.ndim > 1) == decays],
                "weight_decay": recipe.weight_decay if decays else 0.0,
                "scale": 1.0,
            }
            for decays in (True, False)
        ]
        optimiser = torch.optim.AdamW(
            [group for group in groups if group["params"]],
            fused=self.author.device.type == "cuda",
        )
        steps = max(1, round(recipe.epochs * self.sampler.epoch_steps))
        warmup = min(max(1, round(recipe.warmup * steps)), steps)
        return StagePlan(optimiser, learning, Schedule(recipe.rate, steps, warmup))

    def batch(self, step: int) -> AuthorBatch:
        """Give the rows of a step."""
        rows = self.sampler.batch(step)
        return fill_rows(rows, self._tokens, with_prompt=self._recipe.loss == "all")

    def learn(self, batch: AuthorBatch, step: int) -> dict[str, Tensor]:
        """Add the gradients of a batch, some rows at a time; every token counts alike."""
        import torch

        self.author.net.train()
        torch.manual_seed(self._recipe.seed * 1_000_003 + step)  # for dropout
        total = torch.zeros((), device=self.author.device)
        targets = max(int(batch.counts[:, 1:].sum()), 1)
        for start in range(0, len(batch.ids), self._recipe.at_once):
            losses = self.author.losses(batch.rows(start, start + self._recipe.at_once))
            loss = losses.sum() / targets
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        return {"tokens": total}

    def evaluate(self, state: TrainingState) -> Evaluation | None:
        """Give the loss on held-out stories, of all their tokens; the lower the better."""
        if not (measured := self.measure()):
            return None
        loss = measured["loss"]
        return Evaluation(-loss, {"step": state.step} | measured, _words(measured))

    def measure(self) -> dict[str, Any]:
        """Give loss and perplexity of held-out stories after their prompts, by source and of all.

        `error` is half of a 95 % interval over stories: that of a ratio, linearised.
        """
        if not self._held:
            return {}
        sums = {name: self._sum_losses(tokens) for name, tokens in self._held.items()}
        together = tuple(np.concatenate(parts) for parts in zip(*sums.values(), strict=True))
        by_source = {name: describe_losses(*parts) for name, parts in sums.items()}
        return describe_losses(together[0], together[1]) | {"held_out": by_source}

    def _sum_losses(self, tokens: StoryTokens) -> tuple[Any, Any]:
        """Give the sum of losses and the count of tokens of every story."""
        import torch

        self.author.net.eval()
        recipe = self._recipe
        # Longest first, so that rows that pass together are alike; one piece a row.
        pieces = sorted(tokens.pieces(recipe.window), key=lambda piece: piece[0] - piece[1])
        stories = np.searchsorted(tokens.offsets, [start for start, _, _ in pieces], "right") - 1
        sums, counts = np.zeros(len(tokens)), np.zeros(len(tokens))
        for start in range(0, len(pieces), recipe.at_once):
            chunk = pieces[start : start + recipe.at_once]
            batch = fill_rows([[piece] for piece in chunk], tokens, with_prompt=False)
            with torch.inference_mode():
                losses = self.author.losses(batch).double().cpu().numpy()
            owners = stories[start + batch.stories[:, 1:][batch.counts[:, 1:]]]
            np.add.at(sums, owners, losses)
            np.add.at(counts, owners, 1)
        return sums, counts


def describe_losses(sums: Any, counts: Any) -> dict[str, Any]:
    """Give loss and perplexity of a token, and half of the interval over stories."""
    tokens, stories = int(counts.sum()), int((counts > 0).sum())
    loss = float(sums.sum() / max(tokens, 1))
    spread = float(((sums - loss * counts) ** 2).sum())
    error = _Z * sqrt(spread * stories / max(1, stories - 1)) / max(tokens, 1)
    numbers = {"loss": loss, "error": error, "perplexity": exp(loss)}
    return {**numbers, "tokens": tokens, "stories": stories}


def _words(measured: Mapping[str, Any]) -> str:
    said: Sequence[str] = [
        f"{name} {part['loss']:.3f} (perplexity {part['perplexity']:.1f})"
        for name, part in measured["held_out"].items()
    ]
    return f", loss {measured['loss']:.4f}: {', '.join(said)}"
