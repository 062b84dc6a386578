"""What is printed, what comes out here, and what that means."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.reports._study_blocks import Block, Cell, Section, TableBlock, Words
from fabula.reports.parts._view import View
from fabula.scoring.hanna import Replicated

_WORDS = (
    "**What holds.** The means of the systems, all 2,592 correlations, the story-level ranking, "
    "the Williams examples and the curves of the best systems come out as printed.",
    "**What was a misprint.** Novelty-1's Kendall coefficient for surprise at story level (printed "
    "23.11, the data give 21.52) and for complexity at system level (printed 67.42, the data and "
    "the paper's own notebook give 71.91). Figure 8's caption says Pearson where Spearman is "
    "shown. In Table 2 the metrics of two stories stand in each other's columns. Table 3's lower "
    "bound for coherence (.10) is .01 in the notebook.",
    "**What rests on accidents.** Two systems (GPT and TD-VAE) have the same mean complexity, 718 "
    "/ 288, but not the same floating-point number; the printed ranks of systems tell them apart. "
    "With the tie kept (`--settle`) the 144 rank correlations of complexity change by up to .05. "
    "Table 6's system level depends on how an unstable sort breaks ties.",
    "**What changes once distances are turned.** The paper concludes from un-turned distances that "
    "DepthScore and BaryScore do not tell systems apart. Turned, DepthScore is the best of all 72 "
    "by weighted F1, and BaryScore-W is among the better half. BaryScore-SD-10, -5, -1 and -0.5 go "
    "the wrong way even when turned: their bias towards short texts outweighs the distance.",
    "**What the paper could not see.** Counting different words (`unique_words`) agrees with "
    "people as well as the best of its metrics on most criteria.",
)


def section(view: View) -> Section | None:
    """Table the printed values by table, and list those that differ."""
    if not view.replicated:
        return None
    tables: dict[str, list[Replicated]] = {}
    for one in view.replicated:
        tables.setdefault(one.table, []).append(one)
    blocks: list[Block] = [Words(_WORDS), _summary(tables), _differing(view.replicated)]
    return Section("printed", "Printed and ours", blocks)


def _summary(tables: dict[str, list[Replicated]]) -> TableBlock:
    rows = []
    for table, values in tables.items():
        held = sum(one.holds for one in values)
        off = [abs(one.ours - one.printed) for one in values]
        rows.append(
            (
                table,
                len(values),
                Cell(held, tone="good" if held == len(values) else "warn"),
                max(off),
                values[0].tolerance,
            )
        )
    return TableBlock(
        "Printed values and ours",
        ("table", "values", "equal", "largest difference", "tolerance"),
        rows,
        "printed_summary",
        "Every value with its difference is in tables/printed.csv.",
    )


def _differing(values: Sequence[Replicated]) -> TableBlock:
    rows = [
        (one.table, one.what, one.printed, one.ours, one.ours - one.printed, one.note)
        for one in values
        if not one.holds
    ]
    return TableBlock(
        "Printed values that do not come out",
        ("table", "what", "printed", "ours", "difference", "why"),
        rows,
        "printed_differing",
        decimals=[None, None, 2, 2, 2, None],
    )
