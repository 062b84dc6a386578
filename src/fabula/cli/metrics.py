"""`fabula metrics`: the catalogue of metrics, their cards, and a skeleton for a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fabula.cli._rows import format_option, print_rows


@click.group("metrics")
def command() -> None:
    """List metrics, show their cards, begin a new one."""


@command.command("list")
@format_option
def list_metrics(form: str) -> None:
    """List all metrics: what they need, which way is better, what they measure."""
    from fabula.scoring.catalogue import METRICS, SETS

    print_rows([_row(name, METRICS.get(name)) for name in METRICS.names()], form)
    if form == "table":
        for name, about in SETS.items():
            click.echo(f"  -m {name}: {about}")


def _row(name: str, cls: Any) -> dict[str, Any]:
    card = cls.card
    return {
        "metric": name,
        "better": card.arrow,
        "family": card.family,
        "needs": list(card.needs),
        "aspects": [aspect for aspect in card.aspects if aspect],
        "about": (cls.__doc__ or "").strip().splitlines()[0],
    }


@command.command("show")
@click.argument("spec")
def show(spec: str) -> None:
    """Show the card of a metric and the signature of SPEC."""
    from fabula.reports.card import card_page
    from fabula.scoring.catalogue import METRICS

    metric = METRICS.build(spec)
    click.echo(card_page(type(metric)))
    click.echo(f"signature of {metric.spec}: {metric.signature()}")
    click.echo(f"short: {metric.signature(short=True)}")


@command.command("new")
@click.argument("name")
@click.option(
    "-o",
    "--output",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Root of the project; a checkout of Fabula, or a package of your own.",
)
def new(name: str, root: Path) -> None:
    """Write the skeleton of the metric NAME and of its test."""
    from fabula.cli._skeleton import write_skeleton

    for path in write_skeleton(name, root):
        click.echo(path)


@command.command("docs")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
def docs(output: Path) -> None:
    """Write the page of every metric into a folder, from the cards."""
    from fabula.reports.card import card_page, index_page
    from fabula.scoring.catalogue import METRICS

    output.mkdir(parents=True, exist_ok=True)
    classes = {name: METRICS.get(name) for name in METRICS.names()}
    for name, cls in classes.items():
        (output / f"{name}.md").write_text(card_page(cls), encoding="utf-8")
    (output / "index.md").write_text(index_page(classes), encoding="utf-8")
    click.echo(f"{len(classes)} pages in {output}")
