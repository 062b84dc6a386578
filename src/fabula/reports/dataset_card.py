"""A data set's page, written from its card: what it holds, where it is from, what is odd."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.core.dataset import DatasetCard

_WHERE = "fabula data add {name} FOLDER   # once; then every command finds it"


def dataset_page(name: str, card: DatasetCard) -> str:
    """Write the page of a data set in Markdown."""
    parts = [
        f"# {card.title}",
        f"`{name}` · licence: {card.licence} · from: {card.source}",
        card.about,
        _counts(card),
        _facts(card),
        _files(card),
        _quirks(card),
        f"**How to cite.** {card.citation}" if card.citation else "",
        f"```console\n$ {_WHERE.format(name=name)}\n```" if card.counts and card.files else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def dataset_index_page(cards: Mapping[str, DatasetCard]) -> str:
    """Write the list of all data sets in Markdown."""
    rows = [
        f"| [`{name}`]({name}.md) | {card.title} | {_count(card, 'stories')} | "
        f"{_count(card, 'ratings')} | {_count(card, 'scores')} | {_count(card, 'pairs')} | "
        f"{card.licence} |"
        for name, card in cards.items()
    ]
    head = ["# Data sets", "", "Written from the cards by `fabula data docs`.", ""]
    head += ["| name | is | stories | ratings | scores | pairs | licence |"]
    head += ["|---|---|--:|--:|--:|--:|---|"]
    return "\n".join([*head, *rows]) + "\n"


def _count(card: DatasetCard, name: str) -> str:
    return f"{card.counts[name]:,}" if name in card.counts else "–"


def _counts(card: DatasetCard) -> str:
    if not card.counts:
        return ""
    held = ", ".join(f"{count:,} {name}" for name, count in card.counts.items())
    return f"**A whole release holds** {held}."


def _facts(card: DatasetCard) -> str:
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
    rows = [f"| `{name}` | {about} | {_digest(card, name)} |" for name, about in card.files.items()]
    table = ["| file (plain or .gz) | holds | SHA-256 |", "|---|---|---|", *rows]
    if card.checksums:
        table += ["", "The checksums are of the copies we measured on, without gzip."]
    return "\n".join(table)


def _digest(card: DatasetCard, name: str) -> str:
    return f"`{card.checksums[name][:16]}…`" if name in card.checksums else "–"


def _quirks(card: DatasetCard) -> str:
    if not card.quirks:
        return ""
    return "\n".join(["**Quirks.**", "", *(f"- {quirk}" for quirk in card.quirks)])
