"""A reader as teacher: what its heads say of texts is what a smaller one learns (distillation).

A teacher that learned from no person's rating can be asked about any text without a rating leaking
from one fold into another. It reads the word pieces that the pupil reads, by its own numbers for
them: both must know the same pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.protocols import watch
from fabula.learned.reader.config import ENCODER, read_config
from fabula.learned.reader.inference import find_folder, load_reader
from fabula.learned.reader.network import ReaderNetwork
from fabula.learned.training.examples import ExampleSet
from fabula.learned.training.loop import mix_precision
from fabula.learned.training.recipe import Task
from fabula.models.networks.encoder import load_tokenizer

if TYPE_CHECKING:
    import torch

Array = np.ndarray[Any, np.dtype[Any]]
_AT_ONCE = 4096  # texts


def ask_teacher(examples: ExampleSet, task: Task, pupil: Path, device: torch.device) -> ExampleSet:
    """Give examples whose targets are what the teacher's heads say of their texts.

    `pupil` is the folder of the encoder whose word pieces they are.
    """
    teacher = load_reader(task.teacher)
    network, heads = teacher.source, teacher.config.heads
    if not isinstance(network, ReaderNetwork):
        raise SettingError(f"{task.teacher} cannot teach", "name the weights of a reader")
    for head in task.aspects:
        if head not in heads:
            raise SettingError(f"{task.teacher} has no head {head!r}", closest(head, heads))
    numbers = _translate(pupil, _find_encoder(task.teacher), task.teacher)
    targets = np.empty((len(examples.texts), len(task.aspects)), dtype=np.float32)
    watch.get().tell(f"{task.teacher} reads {len(targets):,} texts")
    for start in range(0, len(targets), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(targets))
        texts = [numbers[examples.text(number)].tolist() for number in range(start, stop)]
        with mix_precision(device):
            targets[start:stop] = _read(network, task.aspects, texts)
    return replace(examples, targets=targets[examples.members[:, 0]])


def _read(network: ReaderNetwork, heads: Sequence[str], texts: list[list[int]]) -> Array:
    """Give the first output of every head, the mean over a text's windows: (texts, heads)."""
    rows = [[said[head][:, 0].mean() for head in heads] for said in network.piece_outputs(texts)]
    return np.array(rows, dtype=np.float32)


def _find_encoder(weights: str) -> Path:
    """Give the folder of the encoder that weights sit on."""
    folder = find_folder(weights)
    config = read_config(folder)
    return folder / ENCODER if config.encoder.own else find_folder(config.encoder.name)


def _translate(pupil: Path, teacher: Path, name: str) -> Array:
    """Give the teacher's number of every word piece of the pupil's."""
    (own, _), (other, _) = load_tokenizer(pupil), load_tokenizer(teacher)
    pieces, known = own.get_vocab(), other.get_vocab()
    if missing := sorted(pieces.keys() - known.keys()):
        problem = f"{name} does not know the word piece {missing[0]!r} ({len(missing)} in all)"
        raise InputError(problem, "teach with a reader whose encoder has the same word pieces")
    numbers = np.zeros(1 + max(pieces.values()), dtype=np.int64)
    for piece, number in pieces.items():
        numbers[number] = known[piece]
    return numbers
