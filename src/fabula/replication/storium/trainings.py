"""Trains the variants of STORIUM's experiment that are not there yet, one after the other.

Every training leaves its figures and no weights; one that was interrupted goes on, one that is over
is not begun again. Where games are not at hand, trainings that others made are read as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError
from fabula.core.plain import read_json
from fabula.core.protocols import watch
from fabula.datasets import storium
from fabula.datasets.story_games.statistics import count_game_words
from fabula.learned.training.author_figures import FIGURES, read_figures
from fabula.learned.training.author_games import prepare_games
from fabula.learned.training.author_segments import StoriumRecipe, train_storium
from fabula.learned.training.folder import RECORD, find_changes
from fabula.learned.training.recipe import find_recipe, read_recipe

# What a variant and a seed are; a recipe's changes have no say in it.
_OWN = frozenset({"packing", "history", "seed", "sources"})


@dataclass(frozen=True)
class VariantTrainings:
    """Which variants are trained, with which seeds, and how; `recipe` changes the one that comes
    with Fabula, `storium_study`: `{ model = "…", window = 256, epochs = 1 }`. Without `losses` and
    `segments` those of the recipe are taken."""

    packings: tuple[str, ...] = ("none", "cassowary")
    histories: tuple[int, ...] = (0, 2)
    losses: tuple[str, ...] = ()  # which tokens are learned from: story, all
    segments: tuple[str, ...] = ()  # where marks' embeddings are: own, tokens
    seeds: tuple[int, ...] = (1, 2, 3)
    device: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (self.packings and self.histories and self.seeds):
            raise SettingError("packings, histories and seeds name one each at least", "mend it")
        if own := sorted(_OWN & self.recipe.keys()):
            problem = f"[trainings] recipe has {own[0]}, which is the experiment's own"
            raise SettingError(problem, "set packings, histories, seeds, or --path")

    def list_recipes(self) -> Iterator[tuple[str, StoriumRecipe]]:
        """Go through the recipes of all trainings, by the names of their folders."""
        plain = find_recipe("storium_study")
        losses, segments = self.losses or (None,), self.segments or (None,)
        for packing, history, loss, marks, seed in product(
            self.packings, self.histories, losses, segments, self.seeds
        ):
            own: dict[str, Any] = {"packing": packing, "history": history, "seed": seed}
            own |= {"loss": loss} if loss else {}
            own |= {"segments": marks} if marks else {}
            recipe = read_recipe(StoriumRecipe, plain, **{**self.recipe, **own})
            learned = "".join(f"-{name}" for name in (loss, marks) if name)
            yield f"{packing}-history{history}{learned}-seed{seed}", recipe


def refuse_other_trainings(settings: VariantTrainings, games: Sequence[Path], folder: Path) -> None:
    """Refuse games that are not there, and trainings in the folder that would not be made so now.

    A training that is there is not made again: one by another recipe, or on other games, would be
    reported as what was asked for.
    """
    if not any(True for path in games for _ in storium.games(path)):
        raise InputError(f"{games[0]}: no game is in it", "fabula data games makes some")
    made = {
        folder / name: recipe
        for name, recipe in settings.list_recipes()
        if (folder / name / FIGURES).is_file()
    }
    remedy = "delete it, or name another folder"
    for place, recipe in made.items():
        record = read_json(place / RECORD) if (place / RECORD).is_file() else None
        if other := find_changes(record, recipe):
            raise InputError(f"{place} was trained by another recipe ({', '.join(other)})", remedy)
    words = (
        {game.id: count_game_words(game) for path in games for game in storium.games(path)}
        if made
        else {}
    )
    parts = storium.split_words(words)
    for place in made:
        for part, losses in read_figures(place).parts.items():
            if not {*losses.games} <= {*parts.get(part, ())}:
                raise InputError(f"{place} was trained on other games", remedy)


def train_missing(
    settings: VariantTrainings,
    games: Sequence[Path],
    folder: Path,
    report: Callable[[str], None],
) -> int:
    """Train the variants whose figures are not in the folder; give how many there were.

    Games are laid out once for a packing and a history; all seeds learn from the same entries.
    """
    refuse_other_trainings(settings, games, folder)
    missing = [
        (name, recipe)
        for name, recipe in settings.list_recipes()
        if not (folder / name / FIGURES).is_file()
    ]
    prepared: tuple[tuple[str, int], Any] | None = None
    for number, (name, recipe) in enumerate(missing, 1):
        watch.get().tell(f"training {number} of {len(missing)}: {name}")
        variant = recipe.packing, recipe.history
        if prepared is None or prepared[0] != variant:
            prepared = variant, prepare_games(recipe, [str(path) for path in games])
        data = prepared[1]
        train_storium(
            data.settle(recipe), data, out=folder / name, device=settings.device, resume=True,
            figures_only=True, report=_name_lines(name, report),
        )  # fmt: skip
    return len(missing)


def _name_lines(name: str, report: Callable[[str], None]) -> Callable[[str], None]:
    """Let every line say of which training it is."""
    return lambda line: report(f"{name}: {line}")
