"""What StoryER's paper prints of its own model, to stand beside ours.

Its Table 3 has accuracy (in per cent) and distance on 22,887 test pairs, and ρ and τ on four sets
of stories. Its Table 4 gives the variant with negatives 69.02 and .119 where Table 3 has 70.39 and
.131. Of the tables after it no figures are at hand but those here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PrintedRow:
    """A row of Table 3: accuracy and distance on pairs, and (ρ, τ) by set."""

    accuracy: float
    distance: float | None
    sets: dict[str, tuple[float, float]]


_SETS = ("WP200", "SCARY200", "PREF200", "COH200")


def _row(accuracy: float, distance: float | None, *values: float) -> PrintedRow:
    pairs = zip(values[::2], values[1::2], strict=True)
    return PrintedRow(accuracy / 100, distance, dict(zip(_SETS, pairs, strict=True)))


TABLE_3 = {
    "PPL": _row(61.8, None, 0.181, 0.13, 0.409, 0.3, -0.09, -0.067, -0.698, -0.452),
    "ft-PPL": _row(61.85, None, 0.168, 0.12, 0.449, 0.328, -0.098, -0.074, -0.69, -0.443),
    "RUBER-BERT": _row(39.16, -0.032, -0.019, -0.014, 0.032, 0.026, -0.14, -0.1, -0.141, -0.092),
    "UNION": _row(48.74, 0.003, 0.001, 0.001, 0.156, 0.114, -0.068, -0.045, 0.188, 0.132),
    "MANPLTS": _row(53.08, 0.016, 0.124, 0.107, -0.07, -0.061, 0.164, 0.13, 0.729, 0.498),
    "StoryER": _row(73.93, 0.228, 0.583, 0.422, 0.578, 0.42, 0.343, 0.234, 0.194, 0.132),
    "StoryER (N)": _row(70.39, 0.131, 0.525, 0.377, 0.508, 0.366, 0.266, 0.188, 0.747, 0.536),
}
TABLE_4_N = PrintedRow(0.6902, 0.119, {})
# How far two raters agreed on aspects that both had chosen, and how often that was (Section 3).
RATERS = {"chosen by another, too": 0.6580, "spearman": 0.913, "kendall": 0.811}
# Means of (N)'s preference in Table 8: of stories made bad on purpose, and of those liked most.
TABLE_8_BAD, TABLE_8_LIKED = (0.02, 0.03), 0.88
