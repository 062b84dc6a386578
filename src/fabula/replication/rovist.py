"""What RoViST prints of its survey, to stand beside a survey of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabula.reports.study_blocks import Block, TableBlock, Words
from fabula.reports.study_view import PrintedValue

# Wang, Han and Poon (2022), Table 1, the row of RoViST: ρ, r, τ over 80 stories.
TABLE_1: Mapping[str, tuple[float, float, float]] = {
    "grounding": (0.509, 0.460, 0.365),
    "coherence": (0.446, 0.456, 0.308),
    "non_redundancy": (0.531, 0.736, 0.397),
    "overall": (0.554, 0.579, 0.387),
}
# Table 2: ρ of ratings with ranks by vote, averaged over 20 sequences.
TABLE_2: Mapping[str, float] = {
    "grounding": 0.423,
    "coherence": 0.663,
    "non_redundancy": 0.379,
    "overall": 0.754,
}
# Figure 3: mean ratings of four stories on one sequence, and their shares of the votes.
FIGURE_3: Mapping[str, tuple[float, float, float, float]] = {
    "AREL": (3.4, 2.7, 2.7, 0.04),
    "GLACNet": (2.5, 3.3, 4.6, 0.12),
    "KG-Story": (2.8, 3.3, 3.9, 0.24),
    "MCSM+BART": (3.7, 3.6, 4.1, 0.60),
}
# Figure 5: probabilities of order from sentence to sentence, and the mean as it is printed.
FIGURE_5: Mapping[str, tuple[float, float, float, float, float]] = {
    "AREL": (0.956, 0.900, 0.942, 0.337, 0.783),
    "MCSM+BART": (0.058, 0.999, 0.707, 0.460, 0.556),
    "KG-Story": (0.999, 0.387, 0.522, 0.149, 0.514),
    "GLACNet": (0.128, 0.212, 0.957, 0.101, 0.349),
}
_OTHER = (
    "As RoViST prints it, of its own survey: 26 raters, 20 photo sequences, the stories of AREL, "
    "GLACNet, KG-Story and MCSM+BART. Its ratings are not at hand, nor are the stories of GLACNet "
    "and KG-Story: the figures stand beside ours and cannot be computed again."
)
_MEANS = (
    "The printed means of AREL and GLACNet are a thousandth below those of the printed "
    "probabilities (.784 and .350)."
)


@dataclass(frozen=True)
class RovistPublication:
    """RoViST's printed figures. None is a value of another survey: they stand below its parts."""

    values: Sequence[PrintedValue] = ()

    def number(self, name: str) -> str:
        """Give no number: tables of another survey are not the paper's."""
        return ""

    def value(self, name: str, what: str) -> PrintedValue | None:
        """Give no printed value of a row: that one is of other stories."""
        return None

    def remarks(self, part: str) -> Sequence[str]:
        """Say what the paper shows where no number of it is at hand."""
        if part == "references":
            return [
                "RoViST's Figure 4 does this on its survey with one, two and three references; its "
                "values are a drawing and are not at hand as numbers."
            ]
        return []

    def blocks(self, part: str) -> Sequence[Block]:
        """Give the printed table that belongs below a part."""
        match part:
            case "by_aspect":
                return [_print_table_1()]
            case "votes":
                return [_print_table_2()]
            case "example":
                return [_print_figure_3()]
            case "order":
                return [_print_figure_5(), Words([_MEANS])]
        return []


def _print_table_1() -> TableBlock:
    heads = [f"{aspect} {sign}" for aspect in TABLE_1 for sign in ("ρ", "r", "τ")]
    values = [value for row in TABLE_1.values() for value in row]
    title = "RoViST's Table 1, its own row, as printed"
    return TableBlock(
        title, ("metric", *heads), [("RoViST", *values)], "printed_table_1", _OTHER, decimals=3
    )


def _print_table_2() -> TableBlock:
    return TableBlock(
        "RoViST's Table 2, as printed",
        ("chosen by", *TABLE_2),
        [("votes, Spearman ρ", *TABLE_2.values())],
        "printed_table_2",
        _OTHER,
        decimals=3,
    )


def _print_figure_3() -> TableBlock:
    rows = [(system, *values) for system, values in FIGURE_3.items()]
    heads = ("story", "grounding", "coherence", "non_redundancy", "votes")
    return TableBlock(
        "RoViST's Figure 3, as printed: another sequence",
        heads,
        rows,
        "printed_figure_3",
        _OTHER,
        decimals=2,
    )


def _print_figure_5() -> TableBlock:
    rows = [(system, *values) for system, values in FIGURE_5.items()]
    heads = ("story", *(f"{number} → {number + 1}" for number in range(1, 5)), "mean")
    return TableBlock(
        "RoViST's Figure 5, as printed: other stories, by its ALBERT",
        heads,
        rows,
        "printed_figure_5",
        _OTHER,
        decimals=3,
    )
