"""Train the story encoder: a masked language model warms MiniLM up on stories."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.batches import joined, training_batches
from fabula.learned.training.bert import config_of, load_weights, read_shape
from fabula.learned.training.checkpoint import (
    CHECKPOINT,
    restore_checkpoint,
    save_checkpoint,
    save_model,
)
from fabula.learned.training.evaluation import held_out_batches
from fabula.learned.training.masked_model import MaskedModel, chosen_device
from fabula.learned.training.masking import mask_tokens
from fabula.learned.training.recipe import Recipe
from fabula.learned.training.run import Report, Run, write_record
from fabula.learned.training.tokens import TokenCorpus

RECORD = "training.json"
_TOKENISER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json",
)  # fmt: skip


def train_encoder(
    recipe: Recipe,
    corpus: TokenCorpus,
    *,
    start: Path,
    out: Path,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train from the encoder in `start`, leave the best weights in `out`, give training.json."""
    if (finished := open_folder(out, resume=resume)) is not None:
        return finished
    shape, place = read_shape(start), chosen_device(device)
    drawn = load_weights(start, shape, seed=recipe.seed)
    model = MaskedModel(drawn, shape, recipe=recipe, device=place)
    optimiser = model.optimiser()
    held = {name: held_out_batches(one, recipe) for name, one in corpus.held_out.items()}
    run = Run(recipe, corpus.describe(), report)
    run.restore(restore_checkpoint(out, model.weights, optimiser) if resume else None)
    batches = training_batches(joined(list(corpus.train.values())), recipe, start=run.place)

    while not run.is_over:
        run.place, batch = next(batches)
        run.step += 1
        rng = np.random.default_rng([recipe.seed, run.step, 1])
        masked = mask_tokens(batch.ids, rng, rate=recipe.mask_rate, vocabulary=shape.vocab_size)
        loss = model.learn(masked, batch, optimiser=optimiser, step=run.step)
        run.note(loss, batch)
        if run.is_time(recipe.evaluate_every) and run.note_evaluation(model.evaluate(held)):
            save_model(out, model.weights, {"step": run.step})
        if run.is_time(recipe.checkpoint_every):
            save_checkpoint(out, model.weights, optimiser, run.state())

    return _close_folder(out, start, config_of(shape), run.record() | {"device": str(place)})


def open_folder(out: Path, *, resume: bool) -> dict[str, Any] | None:
    """Make the folder and give the record of a training that is over, if it may be resumed."""
    begun = any((out / name).exists() for name in (CHECKPOINT, RECORD))
    if begun and not resume:
        raise InputError(f"{out} holds a training", "say --resume, or name another folder")
    if (out / RECORD).exists():
        found: dict[str, Any] = json.loads((out / RECORD).read_text(encoding="utf-8"))
        return found
    out.mkdir(parents=True, exist_ok=True)
    return None


def _close_folder(
    out: Path, start: Path, config: dict[str, Any], record: dict[str, Any]
) -> dict[str, Any]:
    """Put beside the weights what is needed to read them; the record comes last."""
    for name in _TOKENISER_FILES:
        if (start / name).is_file():
            shutil.copyfile(start / name, out / name)
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
    write_record(out / RECORD, record)
    (out / CHECKPOINT).unlink(missing_ok=True)
    return record
