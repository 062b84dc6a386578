"""How long fuzzers go on: some hundred rounds, or as many as `FABULA_FUZZ` says (`make fuzz`)."""

from __future__ import annotations

import os
import random

SEED = int(os.environ.get("FABULA_FUZZ_SEED", "20261116"))


def rounds(usual: int) -> int:
    """Give the number of rounds: `usual`, or what `FABULA_FUZZ` says if that is more."""
    return max(usual, int(os.environ.get("FABULA_FUZZ", "0")))


def seeded(name: str) -> random.Random:
    """Give the generator of one fuzzer; `FABULA_FUZZ_SEED` makes it draw other things."""
    return random.Random(f"{SEED} {name}")
