"""The story encoder on the stories that were held out of its training."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.errors import UserError
from fabula.meta.resampling import Estimate
from fabula.models import path_of
from fabula.replication.checks._finding import Finding, unchecked

if TYPE_CHECKING:
    from fabula.learned.training.evaluation import Guessed
    from fabula.learned.training.recipe import Recipe
    from fabula.learned.training.tokens import TokenCorpus

_PART = "The story encoder"
# Recipes lie beside the package in a clone of the repository alone.
_RECIPE = Path(__file__).resolve().parents[4] / "recipes" / "encoder.toml"
_LEAST = {"rocstories": 0.57, "writingprompts": 0.44}


def findings(data: Path | None) -> Iterator[Finding]:
    """Hide the same tokens of the same stories as in training, and count what is guessed."""
    claims = {name: f"masked tokens of held-out {name} guessed" for name in _LEAST}
    try:
        found = _evaluated(data)
    except UserError as error:
        for claim in claims.values():
            yield unchecked(_PART, claim, str(error))
        return
    for name, claim in claims.items():
        yield _finding(claim, found[name], _LEAST[name])


def _evaluated(data: Path | None) -> dict[str, Guessed]:
    if data is None or not (data / "data").is_dir():
        raise UserError("needs data below --data")
    if not _RECIPE.is_file():
        raise UserError("needs recipes/encoder.toml of a clone of the repository")
    from fabula.learned.training.recipe import read_recipe

    recipe, folder = read_recipe(_RECIPE), path_of("story_encoder")
    return _guessed(recipe, _held_out(recipe, data / "data", folder), folder)


def _held_out(recipe: Recipe, data: Path, folder: Path) -> TokenCorpus:
    """Part the stories as for training; those held out must be the very ones of its record."""
    from fabula.learned.training.corpus import read_split
    from fabula.learned.training.tokens import tokenise

    split = read_split(recipe, data)
    corpus = tokenise(replace(split, train={}), folder)
    record = json.loads((folder / "training.json").read_text(encoding="utf-8"))["data"]
    if corpus.describe()["held_out"] != record["held_out"]:
        raise UserError("the data give other stories than were held out of its training")
    return corpus


def _guessed(recipe: Recipe, corpus: TokenCorpus, folder: Path) -> dict[str, Guessed]:
    """How often the encoder in a folder guesses right, by held-out data set."""
    from fabula.learned.training.bert import load_weights, read_shape
    from fabula.learned.training.evaluation import held_out_batches
    from fabula.learned.training.masked_model import MaskedModel, chosen_device

    shape = read_shape(folder)
    weights = load_weights(folder, shape, seed=recipe.seed)
    model = MaskedModel(weights, shape, recipe=recipe, device=chosen_device("cpu"))
    return model.evaluate(
        {name: held_out_batches(one, recipe) for name, one in corpus.held_out.items()}
    )


def _finding(claim: str, found: Guessed, least: float) -> Finding:
    shares = f"top-1 {_words(found.top1)}, top-5 {_words(found.top5)}"
    return Finding(
        _PART,
        claim,
        f"top-1 ≥ {least:.2f}",
        f"{shares}; {found.tokens:,} tokens of {found.stories:,} stories",
        "verified" if found.top1.value >= least else "short",
    )


def _words(share: Estimate) -> str:
    return f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}]"
