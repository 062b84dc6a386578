"""The pages of metrics and data sets, written from their cards."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field
from typing import Any

from fabula.core.card import Card
from fabula.core.dataset import DatasetCard
from fabula.core.metric import Metric
from fabula.core.settings import describe, kinds_of, setting_fields
from fabula.reports.notices import notice_section
from fabula.reports.numbers import number_text
from fabula.reports.pages import markdown_table
from fabula.reports.tables import Table, TableColumn
from fabula.text.craft.reference import read_reference

_WHERE = "fabula data add {name} FOLDER   # once; then every command finds it"
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
        _metric_facts(card),
        _settings(cls),
        f"**compat=True.** {card.compat}",
        _quirks(card.quirks),
        f"**What it cannot see.** {card.cannot_see}",
        notice_section(cls.name),
        _human_stories(cls),
        _published_lines(card),
        f"**Paper.** {card.paper}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def index_page(classes: Mapping[str, type[Metric]]) -> str:
    """Write the list of all metrics in Markdown."""
    rows = [
        [
            f"[`{name}`]({name}.md)",
            cls.card.arrow,
            cls.card.family,
            ", ".join(cls.card.needs) or "–",
            _first_line(cls),
        ]
        for name, cls in classes.items()
    ]
    table = Table(["metric", "better", "family", "needs", "what it is"], rows)
    about = "# Metrics\n\nWritten from the cards by `fabula metrics docs`."
    return f"{about}\n\n{markdown_table(table)}\n"


def _first_line(cls: type[Metric]) -> str:
    return inspect.cleandoc(cls.__doc__ or "").splitlines()[0]


def _range(card: Card) -> str:
    low = "−∞" if math.isinf(card.low) else f"{card.low:g}"
    high = "∞" if math.isinf(card.high) else f"{card.high:g}"
    return f"from {low} to {high}"


def _metric_facts(card: Card) -> str:
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
        [f"`{field.name}`", _default(field), describe(kinds[field.name])]
        for field in setting_fields(cls)
    ]
    return markdown_table(Table(["setting", "default", "may be"], rows))


def _default(field: Field[Any]) -> str:
    return "–" if field.default is MISSING else f"`{field.default!r}`"


def _human_stories(cls: type[Metric]) -> str:
    """What human stories have by a craft check; nothing for other metrics."""
    shown = (0.05, 0.5, 0.9, 0.95, 0.99)
    rows: list[list[str | int]] = [
        [aspect, f"{words:,}", known.count, *(number_text(known.at(level), 2) for level in shown)]
        for aspect in cls.card.aspects
        for words, known in read_reference().get(f"{cls.name}.{aspect}".rstrip("."), {}).items()
    ]
    if not rows:
        return ""
    heads = [TableColumn(head, align="right") for head in ("words from", "stories")]
    heads += [TableColumn(f"{level:.0%}", align="right") for level in shown]
    about = "**Human stories.** So many of a hundred have at most this ([craft](../craft.md))."
    return f"{about}\n\n{markdown_table(Table(['value', *heads], rows))}"


def _published_lines(card: Card) -> str:
    columns = [
        f"- {release}: {', '.join(f'`{name}`' for name in columns_of_release)}"
        for release, columns_of_release in card.published.items()
    ]
    return "\n".join(["**Published columns it regenerates.**", "", *columns]) if columns else ""


def dataset_page(name: str, card: DatasetCard) -> str:
    """Write the page of a data set in Markdown."""
    parts = [
        f"# {card.title}",
        f"`{name}` · licence: {card.licence} · from: {card.source}",
        card.about,
        _counts(card),
        _dataset_facts(card),
        _files(card),
        _quirks(card.quirks),
        f"**How to cite.** {card.citation}" if card.citation else "",
        f"```console\n$ {_WHERE.format(name=name)}\n```" if card.counts and card.files else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def dataset_index_page(cards: Mapping[str, DatasetCard]) -> str:
    """Write the list of all data sets in Markdown."""
    counted = ("stories", "ratings", "scores", "pairs")
    rows = [
        [f"[`{name}`]({name}.md)", card.title, *map(card.counts.get, counted), card.licence]
        for name, card in cards.items()
    ]
    heads = [TableColumn(name, align="right") for name in counted]
    table = Table(["name", "is", *heads, "licence"], rows)
    about = "# Data sets\n\nWritten from the cards by `fabula data docs`."
    return f"{about}\n\n{markdown_table(table)}\n"


def _counts(card: DatasetCard) -> str:
    if not card.counts:
        return ""
    held = ", ".join(f"{count:,} {name}" for name, count in card.counts.items())
    return f"**A whole release holds** {held}."


def _dataset_facts(card: DatasetCard) -> str:
    scales = [
        f"{aspect or 'all ratings'}: {low:g} to {high:g}"
        for aspect, (low, high) in card.scales.items()
    ]
    facts = {
        "Scale": "; ".join(scales),
        "Systems that wrote the references": ", ".join(card.reference_systems),
        "Raters": "" if card.raters_known else "places in a list, not people",
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)


def _files(card: DatasetCard) -> str:
    if not card.files:
        return ""
    rows = [[f"`{name}`", about, _digest(card, name)] for name, about in card.files.items()]
    table = markdown_table(Table(["file (plain or .gz)", "holds", "SHA-256"], rows))
    if not card.checksums:
        return table
    return f"{table}\n\nThe checksums are of the copies we measured on, without gzip."


def _digest(card: DatasetCard, name: str) -> str:
    return f"`{card.checksums[name][:16]}…`" if name in card.checksums else "–"


def _quirks(quirks: Sequence[str]) -> str:
    if not quirks:
        return ""
    return "\n".join(["**Quirks.**", "", *(f"- {quirk}" for quirk in quirks)])
