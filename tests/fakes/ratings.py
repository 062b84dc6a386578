"""Matrices of ratings that several tests measure, and tables of them."""

from __future__ import annotations

import numpy as np

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable

NAN = np.nan

# Shrout and Fleiss (1979), Table 2: six targets, four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]],
    dtype=float,
)
# Made up: ten stories, three raters.
OWN = np.array(
    [[1, 2, 2], [3, 3, 5], [2, 2, 1], [4, 5, 4], [5, 3, 4],
     [3, 4, 2], [1, 1, 3], [2, 4, 3], [5, 5, 5], [4, 2, 4]],
    dtype=float,
)  # fmt: skip
# Krippendorff (2011), section C: twelve units, four observers, also Gwet's example.
KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
# The three-observer example that Krippendorff's alpha is usually explained with: 15 units.
THREE = np.array(
    [
        [NAN, NAN, NAN, NAN, NAN, 3, 4, 1, 2, 1, 1, 3, 3, NAN, 3],
        [1, NAN, 2, 1, 3, 3, 4, 3, NAN, NAN, NAN, NAN, NAN, NAN, NAN],
        [NAN, NAN, 2, 1, 3, 4, 4, NAN, 2, 1, 1, 3, 3, NAN, 4],
    ]
).T


def table_of(matrix: np.ndarray, aspect: str = "plot") -> ScoreTable:
    """A table of ratings; raters are called a, b, c …"""
    stories = [Story(f"s{i}", "Once.") for i in range(len(matrix))]
    scores = [
        Score(f"s{i}", f"human:{chr(97 + j)}", aspect, float(value))
        for i, row in enumerate(matrix)
        for j, value in enumerate(row)
        if not np.isnan(value)
    ]
    return ScoreTable(stories, scores)
