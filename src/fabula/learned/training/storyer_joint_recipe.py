"""How StoryER's whole model is trained: one frozen recipe, read from TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fabula.core.errors import SettingError
from fabula.learned.training.recipe_file import read_toml, settled

PairLoss = Literal["margin", "cross_entropy", "smoothed"]


@dataclass(frozen=True)
class JointRecipe:
    """An encoder-decoder that learns to rank, to rate and to comment at once (StoryER).

    A step takes `rows` pairs and as many rated comments, and adds up the losses of all parts that
    are switched on. With `compat` the ranking is summed over a batch rather than averaged, one
    aspect of a story is told at a time rather than all of them, and the decoder begins with the
    sign for an end: so does the authors' code.
    """

    backbone: str  # a model of the hub, or a folder as transformers saves it
    pairs: tuple[str, ...] = ("storyer",)
    items: tuple[str, ...] = ("storyer_ratings",)
    augmented: tuple[str, ...] = ()  # more rated comments, for training alone
    cleaned: bool = True  # posts without signatures, links and notes

    ranking: bool = True
    aspects: bool = True
    comments: bool = True
    negatives: bool = False  # also the less liked story above one made bad: StoryER (N)
    augmentation: bool = True

    loss: PairLoss = "margin"
    margin: float = 0.3
    smoothing: float = 0.1
    compat: bool = False

    max_tokens: int = 2000
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
        _check(self)

    @property
    def prefers(self) -> bool:
        """Whether anything is learned from pairs."""
        return self.ranking or self.negatives

    @property
    def speaks(self) -> bool:
        """Whether anything is learned from rated comments."""
        return self.aspects or self.comments


def is_joint_recipe(path: Path) -> bool:
    """Whether a TOML file is a recipe of this kind: it names a backbone."""
    return "backbone" in read_toml(path)


def read_joint_recipe(path: Path, **changes: Any) -> JointRecipe:
    """Read a recipe from TOML; changes that are not None take the place of what it says."""
    found = joint_recipe_of(read_toml(path), str(path))
    return replace(found, **{name: value for name, value in changes.items() if value is not None})


def joint_recipe_of(found: Mapping[str, Any], where: str = "recipe") -> JointRecipe:
    """Make a recipe of plain values, as TOML or JSON gives them."""
    return settled(JointRecipe, found, where)


def _check(recipe: JointRecipe) -> None:
    least = {"max_tokens": 8, "comment_tokens": 4, "rows": 1, "at_once": 0, "patience": 0}
    least |= {"evaluate_every": 1, "checkpoint_every": 1, "report_every": 1, "most_held": 1}
    least |= {"margin": 0, "weight_decay": 0, "clip": 0, "warmup_epochs": 0}
    for name, low in least.items():
        if getattr(recipe, name) < low:
            raise SettingError(f"{name} must be at least {low}", "mend the recipe")
    for name in ("warmup", "held_out", "smoothing"):
        if not 0 <= getattr(recipe, name) < 1:
            raise SettingError(f"{name} must be at least 0 and below 1", "mend the recipe")
    if min(recipe.rate, recipe.epochs, recipe.epsilon) <= 0:
        raise SettingError("rate, epochs and epsilon must be above 0", "mend the recipe")
    if not recipe.backbone.strip():
        raise SettingError("backbone names no model", "say allenai/led-base-16384, or a folder")
    if not (recipe.prefers or recipe.speaks):
        raise SettingError("nothing is left to learn", "switch ranking, aspects or comments on")
