"""The learning rate: up in a line, then down in a line to nothing."""

from __future__ import annotations

from fabula.learned.training.recipe import Recipe


def learning_rate(step: int, recipe: Recipe) -> float:
    """Rate of a step, counted from 1: highest when the warm-up ends, 0 after the last step."""
    warmup = max(1, round(recipe.warmup * recipe.steps))
    if step <= warmup:
        return recipe.peak_rate * step / warmup
    return recipe.peak_rate * (recipe.steps + 1 - step) / (recipe.steps + 1 - warmup)
