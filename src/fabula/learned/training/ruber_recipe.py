"""What a training of RUBER depends on besides its data: one frozen recipe, read from TOML."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fabula.core.errors import SettingError
from fabula.learned.ruber_model.network import Pooling
from fabula.learned.training.recipe_file import read_toml, settled


@dataclass(frozen=True)
class RuberRecipe:
    """How RUBER is trained: its data, the frozen encoder, the network and the course.

    Prompts that stories of the data sets in `left_out` answer are not trained on. `rank` is that
    of the matrix between prompt and story; 0 is the paper's full one.
    """

    sources: tuple[str, ...] = ("writingprompts",)
    left_out: tuple[str, ...] = ("hanna", "mans", "storyer", "storyer_ratings")
    model: str = "embedded('story_encoder')"
    quick_model: str = ""  # encodes in training alone, where a faster one gives nearly the same
    layer: int = 6
    pooling: Pooling = "mean"
    max_tokens: int = 508  # of a text; in training alone, the metric reads it whole
    hidden: int = 64
    rank: int = 0
    loss: Literal["cross_entropy", "hinge"] = "cross_entropy"
    margin: float = 0.05  # of the hinge
    rate: float = 1e-4
    fall: float = 0.95  # of the rate, when the loss exceeds those of the last three epochs
    clip: float = 5.0
    dropout: float = 0.5  # of the vectors' numbers
    rows: int = 256
    epochs: int = 50
    patience: int = 10  # epochs without a lower loss on the dev prompts; 0: never stop
    seed: int = 1
    split_seed: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that will not do."""
        least = {"layer": 0, "max_tokens": 8, "hidden": 1, "rank": 0, "rows": 2, "epochs": 1}
        for name, low in {**least, "patience": 0, "dropout": 0}.items():
            if getattr(self, name) < low:
                raise SettingError(f"{name} must be at least {low}", "mend the recipe")
        if min(self.rate, self.clip, self.fall) <= 0 or self.dropout >= 1:
            problem = "rate, clip and fall must be above 0, and dropout below 1"
            raise SettingError(problem, "mend the recipe")


def read_ruber_recipe(path: Path, **changes: Any) -> RuberRecipe:
    """Read a recipe from TOML; changes that are not None take the place of what it says."""
    found = settled(RuberRecipe, read_toml(path), str(path))
    return replace(found, **{name: value for name, value in changes.items() if value is not None})
