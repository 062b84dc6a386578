"""How to cite a run: Fabula itself, and the papers of the metrics that were used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fabula.core.card import Card
from fabula.core.errors import UserError
from fabula.reports.tables import latex_text
from fabula.scoring.catalogue import METRICS


def cards_of(specs: Iterable[str]) -> dict[str, Card]:
    """Cards of the metrics that are installed here, by spec."""
    found = {}
    for spec in specs:
        try:
            found[spec] = METRICS.build(spec).card
        except UserError:
            # A person, or a metric of a package that this machine does not have.
            continue
    return found


def citations(record: dict[str, Any], cards: dict[str, Card]) -> str:
    """Write BibTeX entries; those of metrics hold the card's words for their paper."""
    version, year = record["fabula"], str(record.get("finished", ""))[:4]
    own = {
        "author": "{The Fabula authors}",
        "title": "{Fabula}: an open system for evaluating stories",
        "version": version,
        "year": year,
    }
    entries = [_entry("software", "fabula", own)]
    for paper, spec in papers(cards).items():
        key = spec.partition("(")[0]
        entries.append(_entry("misc", f"fabula-{key}", {"note": latex_text(paper)}))
    return "\n\n".join(entries)


def papers(cards: dict[str, Card]) -> dict[str, str]:
    """Papers with the first metric that is of them, each once; a count has none."""
    found: dict[str, str] = {}
    for spec, card in cards.items():
        if not card.paper.startswith("None"):
            found.setdefault(card.paper, spec)
    return found


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name:7} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
