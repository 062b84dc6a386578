"""What a training run depends on besides its data: one frozen recipe, read from TOML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import SettingError, closest
from fabula.learned.training.recipe_file import read_toml

WORD_EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class Recipe:
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
        _check(self)


def read_recipe(path: Path, **changes: Any) -> Recipe:
    """Read a recipe from TOML; changes that are not None take the place of what it says."""
    found = read_toml(path)
    return replace(
        recipe_of(found, str(path)), **{k: v for k, v in changes.items() if v is not None}
    )


def recipe_of(found: Mapping[str, Any], where: str = "recipe") -> Recipe:
    """Make a recipe of plain values, as TOML or JSON gives them."""
    known = {one.name: one for one in fields(Recipe)}
    for name, value in found.items():
        if name not in known:
            raise SettingError(f"{where}: no setting is called {name!r}", closest(name, known))
        if not _fits(value, getattr(_DEFAULT, name)):
            raise SettingError(
                f"{where}: {name} = {value!r} will not do", f"see {known[name].type}"
            )
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in found.items()
    }
    return Recipe(**values)


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, tuple):
        return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    return isinstance(value, type(default))


def _check(recipe: Recipe) -> None:
    least = {"steps": 1, "rows": 1, "window": 8, "evaluate_every": 1, "checkpoint_every": 1}
    for name, low in least.items() | {("report_every", 1), ("patience", 0)}:
        if getattr(recipe, name) < low:
            raise SettingError(f"{name} must be at least {low}", "mend the recipe")
    for name in ("mask_rate", "warmup", "dropout", "weight_decay", "beta2"):
        if not 0 <= getattr(recipe, name) < 1:
            raise SettingError(f"{name} must be at least 0 and below 1", "mend the recipe")
    if recipe.mask_rate == 0 or recipe.peak_rate <= 0 or recipe.clip <= 0:
        raise SettingError("mask_rate, peak_rate and clip must be above 0", "mend the recipe")
    if not recipe.sources:
        raise SettingError("sources names no data set", "name one, such as rocstories")


_DEFAULT = Recipe()
