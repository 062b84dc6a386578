"""Leave a corpus out of teacher and pupil: what `storyer`'s weights are worth on people never met.

    python benchmarks/left_out_taught.py DATA [--states FILE]

`preference` learns what the large weights say of texts, and these have met all six corpora. Here a
teacher that has not met the corpus left out, fitted as recipes/large.toml says, teaches a pupil as
recipes/preference.toml says: what it says of items that it has not learned from, of the other
corpora alone. Printed are the shares of choices that agree for both, beside the best trivial
baseline, and the paired gains, items drawn again. SmolLM2 reads 1.8 million words, about an hour of
two cores; with `--states` what it read is kept in that file.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from left_out import show

from fabula.learned.training.choices import Choices
from fabula.learned.training.left_out import leave_out
from fabula.learned.training.probe import ProbeRecipe, fit_choices, fit_taught
from fabula.learned.training.probe_bench import Bench
from fabula.learned.training.recipe import read_recipe

Array = np.ndarray[Any, np.dtype[Any]]
Columns = Mapping[str, Array]
RECIPES = Path(__file__).resolve().parents[1] / "recipes"
HEAD = "preference"


def main() -> None:
    """Print the teacher's agreement with the corpora left out, then the pupil's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--states", type=Path)
    given = parser.parse_args()
    teacher, pupil = read_recipes()
    benches = [
        Bench(recipe, given.data, given.states if recipe is teacher else None, print)
        for recipe in (teacher, pupil)
    ]
    corpora = [benches[0].choices[name] for name in teacher.probes[HEAD].choices]
    taught_by, learned_by = (columns_of(bench, corpora) for bench in benches)

    def teach(others: Sequence[Choices]) -> Array:
        said = cross_fit(benches[0], others, taught_by)
        return fit_taught(pupil.probes[HEAD], others, learned_by, said)

    head = teacher.probes[HEAD]
    alone = leave_out(corpora, taught_by, fit=lambda some: fit_choices(head, some, taught_by))
    show("the teacher, corpus left out", alone)
    show("its pupil, corpus left out of both", leave_out(corpora, learned_by, fit=teach))


def read_recipes() -> tuple[ProbeRecipe, ProbeRecipe]:
    """Read teacher's and pupil's recipe; of the teacher's what its preference asks is kept."""
    large = read_recipe(ProbeRecipe, RECIPES / "large.toml")
    small = read_recipe(ProbeRecipe, RECIPES / "preference.toml")
    assert large.probes[HEAD].choices == small.probes[HEAD].choices
    alone: Any = {"beside": "", "beside_heads": (), "surprisal": False, "tested": ()}
    return replace(large, probes={HEAD: large.probes[HEAD]}, **alone), small


def columns_of(bench: Bench, corpora: Sequence[Choices]) -> dict[str, Array]:
    """Give the columns of every corpus's texts that a recipe's head is linear in."""
    head = bench.recipe.probes[HEAD]
    return {one.corpus: bench.columns(head, one.texts) for one in corpora}


def cross_fit(bench: Bench, corpora: Sequence[Choices], columns: Columns) -> dict[str, Array]:
    """Give what heads say of texts whose fold they were fitted without, by corpus."""
    head, folds = bench.recipe.probes[HEAD], bench.recipe.folds
    fold_of = {one.corpus: bench.fold_of(one.groups) for one in corpora}
    said = {one.corpus: np.full(len(one.texts), np.nan) for one in corpora}
    for fold in range(folds):
        rest = [
            replace(one, weights=one.weights * (fold_of[one.corpus][one.pairs] != fold).all(1))
            for one in corpora
        ]
        weights = fit_choices(head, rest, columns)
        for one in corpora:
            there = fold_of[one.corpus] == fold
            said[one.corpus][there] = columns[one.corpus][there] @ weights
    return said


if __name__ == "__main__":
    main()
