"""HANNA's paper beside a study's report: numbers of its tables, its values, and what they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.replication.hanna.paper import Printed, read_printed
from fabula.replication.hanna.replicate import align_table_3, replicate
from fabula.reports.study_blocks import Block, TableBlock
from fabula.reports.study_view import PrintedValue

# Numbers of the paper by the report's names of tables and figures.
_NUMBERS = {
    "classes": "Table 1",
    "example": "Table 2",
    "raters": "Table 3",
    "systems": "Table 4",
    "strongest_item": "Table 8",
    "strongest_system": "Table 9",
    "ranking_item": "Table 6",
    "ranking_system": "Table 6",
    "ranking_item_system": "Table 6",
    "criteria": "Figures 1 and 2",
    "labels": "Figures 7 and 26",
    "top_k": "Figure 8",
}
# Tables of printed values by the same names.
_TABLES = {
    "systems": "Table 4: means",
    "strongest_item": "Tables 5 and 8: story level",
    "strongest_system": "Tables 5 and 9: system level",
    "ranking_item": "Table 6: story level",
    "ranking_system": "Table 6: system level, average ranks",
    "ranking_item_system": "Table 6: both levels, average ranks",
}
_TIES = (
    "The paper breaks ties by the accident of an unstable sort (numpy before 1.25): at the level "
    "of systems, where ties are many, it prints 1120, 1110, 1095, 1070 and 1069 for the first five."
)
_UNTURNED = (
    "**As published, distances were not turned**: a metric for which lower is better then names "
    "the worse system, and looks useless."
)


@dataclass(frozen=True)
class HannaPublication:
    """What HANNA prints; without a file of its values it knows the numbers of its tables alone.

    `slots` are our values of Table 3 by criterion, which only the annotation file gives.
    """

    printed: Printed | None = None
    values: Sequence[PrintedValue] = field(default=())
    slots: Mapping[str, str] = field(default_factory=dict)

    def number(self, name: str) -> str:
        """Give the number of a table or figure in the paper; "" if it has none."""
        return _NUMBERS.get(name, "")

    def value(self, name: str, what: str) -> PrintedValue | None:
        """Find the printed value of a row of a table."""
        return self._by_row.get((_TABLES.get(name, ""), what))

    @cached_property
    def _by_row(self) -> dict[tuple[str, str], PrintedValue]:
        return {(value.table, value.what): value for value in self.values}

    def remarks(self, part: str) -> Sequence[str]:
        """Say what comparing a part of the report with the paper shows."""
        if not self.printed:
            return []
        match part:
            case "systems":
                return self._systems()
            case "strongest":
                return self._strongest()
            case "ranking":
                return [_TIES]
            case "labels":
                return [_UNTURNED, *self._labels()]
            case "top_k":
                return self._top_k()
            case "significance":
                return self._significance()
        return []

    def _of(self, table: str) -> list[PrintedValue]:
        return [value for value in self.values if value.table.startswith(table)]

    def _systems(self) -> list[str]:
        means = self._of("Table 4: means")
        equal = sum(value.holds for value in means)
        return [f"{equal} of {len(means)} printed means are equal to ours."] if means else []

    def _strongest(self) -> list[str]:
        values = self._of("Tables 5")
        if not values:
            return []
        wrong = [value for value in values if not value.holds]
        told = "; ".join(
            f"{value.what} ({value.printed:g} printed, {value.ours:g} here)" for value in wrong
        )
        return [
            f"{len(values) - len(wrong)} of the {len(values)} printed values are equal to ours. "
            f"The others are misprints: {told}. The released scores give ours, and so does "
            "the paper's own notebook where it prints the value."
        ]

    def _labels(self) -> Iterator[str]:
        if values := self._of("Figures 7 and 26"):
            off = [abs(value.ours - value.printed) for value in values]
            yield (
                f"Against the mean over seeds of the published procedure, {len(values)} values "
                f"differ by {np.mean(off):.1f} points on average and {max(off):.1f} at most: the "
                "noise of the draws."
            )

    def _top_k(self) -> list[str]:
        values = self._of("Figure 8")
        if not values:
            return []
        return [
            f"{sum(value.holds for value in values)} of {len(values)} values are equal to the "
            "notebook's. It prints Spearman's coefficient where the paper's caption says Pearson's."
        ]

    def _significance(self) -> list[str]:
        """Say which of the paper's two claims hold."""
        top = self._of("Williams tests: the three strongest")
        if not top:
            return []
        counts: dict[tuple[str, str], list[bool]] = {}
        for value in self._of("Williams tests: chrF and BERTScore against BLEU and ROUGE"):
            aspect, _, pair = value.what.partition(": ")
            stronger = pair.partition(" vs ")[0].rsplit(" ", 1)[0]
            counts.setdefault((stronger, aspect), []).append(value.ours < 0.05)
        told = ", ".join(
            f"{name} on {aspect} {sum(beaten)} of {len(beaten)}"
            for (name, aspect), beaten in counts.items()
        )
        return [
            "The paper's claim that the three strongest metrics of a criterion do not differ "
            f"holds: {sum(value.ours > 0.05 for value in top)} of {len(top)} pairs have p > .05.",
            "Its claim that chrF and BERTScore beat BLEU and the ROUGE variants holds in part: "
            f"{told}.",
        ]

    def blocks(self, part: str) -> Sequence[Block]:
        """Give the paper's own tables that belong below a part: Table 3 below the raters."""
        if not self.printed or part != "raters":
            return []
        known = self.printed.tables["tab3_paper_and_notebook"]
        rows = []
        for code, (low, value, high) in known["paper"].items():
            below, again, above = known["notebook_icc2k"][code]
            paper = f"{value:.2f} [{low:.2f}, {high:.2f}]"
            notebook = f"{again:.3f} [{below:.2f}, {above:.2f}]"
            rows.append((code, paper, notebook, self.slots.get(code, "needs worker ids")))
        heads = ("criterion", "paper", "its notebook", "ours")
        note = "The paper's lower bound for CH (.10) is .01 in its notebook: a misprint, it seems."
        return [TableBlock("Table 3 as printed: ICC(2,k)", heads, rows, "raters_printed", note)]


def read_publication(path: Path | None, dataset: Dataset) -> HannaPublication:
    """Compute again what a file of printed values holds; numbers of tables alone without one."""
    if path is None or not path.is_file():
        return HannaPublication()
    printed = read_printed(path)
    slots = {code: f"{icc.value:.3f} [{icc.low:.2f}, {icc.high:.2f}]"
             for code, icc in align_table_3(dataset).items()}  # fmt: skip
    return HannaPublication(printed, tuple(replicate(dataset, printed)), slots)
