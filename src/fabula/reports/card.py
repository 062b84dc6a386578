"""A metric's page, written from its card: what it means and what it cannot see."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import MISSING, Field
from typing import Any

from fabula.core.card import Card
from fabula.core.metric import Metric
from fabula.core.settings import describe, kinds_of, setting_fields

_DIRECTIONS = {
    "higher": "higher is better (↑)",
    "lower": "lower is better (↓)",
    "descriptive": "descriptive: neither way is better by itself (–)",
}


def card_page(cls: type[Metric]) -> str:
    """Write the page of a metric in Markdown."""
    card = cls.card
    parts = [
        f"# {card.title}",
        f"`{cls.name}` · {card.family} · {_DIRECTIONS[card.direction]} · {_range(card)}",
        inspect.cleandoc(cls.__doc__ or ""),
        f"**Formula.** {card.formula}",
        _facts(card),
        _settings(cls),
        f"**compat=True.** {card.compat}",
        _quirks(card),
        f"**What it cannot see.** {card.cannot_see}",
        _published(card),
        f"**Paper.** {card.paper}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def index_page(classes: Mapping[str, type[Metric]]) -> str:
    """Write the list of all metrics in Markdown."""
    rows = [
        f"| [`{name}`]({name}.md) | {cls.card.arrow} | {cls.card.family} | "
        f"{', '.join(cls.card.needs) or '–'} | {_first_line(cls)} |"
        for name, cls in classes.items()
    ]
    head = ["# Metrics", "", "Written from the cards by `fabula metrics docs`.", ""]
    head += ["| metric | better | family | needs | what it is |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n"


def _first_line(cls: type[Metric]) -> str:
    return inspect.cleandoc(cls.__doc__ or "").splitlines()[0]


def _range(card: Card) -> str:
    low = "−∞" if math.isinf(card.low) else f"{card.low:g}"
    high = "∞" if math.isinf(card.high) else f"{card.high:g}"
    return f"from {low} to {high}"


def _facts(card: Card) -> str:
    facts = {
        "Needs": ", ".join(card.needs) or "the story alone",
        "Uses if there": ", ".join(card.uses),
        "Assets": ", ".join(f"`{name}` (`fabula models pull {name}`)" for name in card.assets),
        "Aspects": ", ".join(aspect for aspect in card.aspects if aspect),
        "Several references": card.references,
        "Defined on": {"system": "all stories of a system", "run": "all stories of a run"}.get(
            card.batch or "", ""
        ),
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _settings(cls: type[Metric]) -> str:
    kinds = kinds_of(cls)
    rows = [
        f"| `{field.name}` | {_default(field)} | {describe(kinds[field.name])} |"
        for field in setting_fields(cls)
    ]
    return "\n".join(["| setting | default | may be |", "|---|---|---|", *rows])


def _default(field: Field[Any]) -> str:
    return "–" if field.default is MISSING else f"`{field.default!r}`"


def _quirks(card: Card) -> str:
    if not card.quirks:
        return ""
    return "\n".join(["**Quirks.**", "", *(f"- {quirk}" for quirk in card.quirks)])


def _published(card: Card) -> str:
    columns = [
        f"- {release}: {', '.join(f'`{name}`' for name in found)}"
        for release, found in card.published.items()
    ]
    return "\n".join(["**Published columns it regenerates.**", "", *columns]) if columns else ""
