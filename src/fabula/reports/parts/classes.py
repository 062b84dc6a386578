"""Classes of metrics, from what is declared about them."""

from __future__ import annotations

from fabula.reports.study_blocks import Section, TableBlock
from fabula.reports.study_view import View

_FAMILIES = ("string", "embedding", "model", "judge", "baseline")


def section(view: View) -> Section | None:
    """Table metrics by family, by what they read and by which way is better."""
    cards = {column.label: view.card(column) for column in view.metrics.columns}
    if not any(card.family for card in cards.values()):
        return None
    rows = []
    for family in (*_FAMILIES, ""):
        for reads in sorted({card.uses for card in cards.values()}, reverse=True):
            names = [n for n, card in cards.items() if (card.family, card.uses) == (family, reads)]
            if names:
                lower = sum(cards[name].direction == "lower" for name in names)
                rows.append(
                    (family or "not declared", ", ".join(reads) or "the story alone", len(names),
                     lower, ", ".join(names))
                )  # fmt: skip
    table = TableBlock(
        view.numbered("classes", "Classes of metrics"),
        ("family", "reads besides the story", "metrics", "of them lower is better", "names"),
        rows,
        "classes",
        "From the cards of the scorers. A distance that nobody turns looks worse than it is.",
    )
    return Section("classes", "Classes of metrics", [table])
