"""What learned metrics say of a story: names of criteria and of aspects."""

from __future__ import annotations

from fabula.datasets.storyer_ratings import ASPECTS

# HANNA's, in the order of its paper.
CRITERIA = ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity")

__all__ = ["ASPECTS", "CRITERIA"]
