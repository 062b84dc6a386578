"""How StoryER's whole model is trained: one frozen recipe, read from TOML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabula.core.errors import SettingError
from fabula.learned.training.loop import LoopConfig
from fabula.learned.training.recipe import require_least, require_shares

PairLoss = Literal["margin", "cross_entropy", "smoothed"]
Corruption = Literal["union", "manplts"]
_LEAST_TOKENS = 8


@dataclass(frozen=True)
class JointRecipe:
    """A backbone that learns to rank, to rate and to comment at once (StoryER).

    A step takes `rows` pairs and as many rated comments, and adds up the losses of all parts that
    are switched on. With `compat` the ranking is summed over a batch rather than averaged, one
    aspect is told at a time rather than all that a rater chose, and the decoder begins with the
    sign for an end: so does the authors' code.
    """

    backbone: str  # a model of the hub, a folder as transformers saves it, or an asset
    warm_start: bool = False  # an encoder is given a decoder of its own layers
    pairs: tuple[str, ...] = ("storyer",)
    items: tuple[str, ...] = ("storyer_ratings",)
    augmented: tuple[str, ...] = ()  # more rated comments, for training alone
    cleaned: bool = True  # posts without signatures, links and notes

    ranking: bool = True
    aspects: bool = True
    comments: bool = True
    negatives: bool = False  # also the less liked story above one made bad: StoryER (N)
    corruptions: tuple[Corruption, ...] = ("union", "manplts")  # how: one of them, by lot
    antonyms: bool = True  # words are turned into their contraries, too: needs WordNet
    augmentation: bool = True

    loss: PairLoss = "margin"
    margin: float = 0.3
    smoothing: float = 0.1
    compat: bool = False

    max_tokens: int = 2000  # 0: as many as the backbone reads
    comment_tokens: int = 300
    epochs: float = 5.0
    rows: int = 16
    at_once: int = 0  # rows that pass through the network together; 0: all
    gradient_checkpointing: bool = False
    rate: float = 4e-6
    warmup: float = 0.2  # share of all steps
    warmup_epochs: float = 0.0  # above 0: instead of the share
    epsilon: float = 1e-8
    weight_decay: float = 0.0
    clip: float = 0.0  # 0: gradients stay as they are
    seed: int = 1
    split_seed: int = 0
    held_out: float = 0.1  # share of the prompts that is evaluated, not learned from
    most_held: int = 1000  # pairs, and rated comments, of an evaluation
    patience: int = 0  # evaluations without a better one before it stops; 0: never
    evaluate_every: int = 500
    checkpoint_every: int = 500
    report_every: int = 50
    licence: str = "research use; see the data sets and the backbone"

    def __post_init__(self) -> None:
        require_least(self, max_tokens=0, comment_tokens=4, rows=1, at_once=0, patience=0)
        require_least(self, evaluate_every=1, checkpoint_every=1, report_every=1, most_held=1)
        require_least(self, margin=0, weight_decay=0, clip=0, warmup_epochs=0)
        require_shares(self, "warmup", "held_out", "smoothing")
        if min(self.rate, self.epochs, self.epsilon) <= 0:
            raise SettingError("rate, epochs and epsilon must be above 0", "mend the recipe")
        if not self.backbone.strip():
            raise SettingError("backbone names no model", "say allenai/led-base-16384, or a folder")
        if 0 < self.max_tokens < _LEAST_TOKENS:
            problem = f"max_tokens must be at least {_LEAST_TOKENS}, or 0"
            raise SettingError(problem, "0 is as many as the backbone reads")
        if self.negatives and not self.corruptions:
            raise SettingError("corruptions names no way", "say union, manplts or both")
        if not (self.prefers or self.speaks):
            problem = "nothing is left to learn"
            raise SettingError(problem, "switch ranking, aspects or comments on")

    @property
    def loop(self) -> LoopConfig:
        """What the loop needs to know."""
        return LoopConfig(
            self.clip, self.patience, self.evaluate_every, self.checkpoint_every, self.report_every
        )

    @property
    def prefers(self) -> bool:
        """Whether anything is learned from pairs."""
        return self.ranking or self.negatives

    @property
    def speaks(self) -> bool:
        """Whether anything is learned from rated comments."""
        return self.aspects or self.comments
