"""`fabula doctor`: what is installed, what is missing, and the one command that gets it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click

from fabula.cli import echo
from fabula.core.errors import UserError

_EXTRAS = {
    "tables": (("pandas", "pyarrow"), "data frames, Arrow and Parquet"),
    "large": (("duckdb", "rensa"), "runs of more than 50,000 stories, and fabula filter"),
    "fast": (("numba",), "ROUGE-W and its like, compiled"),
    "nlp": (("spacy", "nltk"), "HANNA's own tokens"),
    "plots": (("altair", "vl_convert"), "figures"),
    "meta": (("scipy", "evalica"), "intervals by t and F, Bradley–Terry, clustering"),
    "models": (
        ("torch", "transformers", "safetensors", "onnxruntime", "ot"),
        "metrics with a model",
    ),
    "train": (("sklearn",), "weights and regressors of one's own"),
    "vision": (("PIL",), "metrics with images"),
    "web": (("fastapi", "uvicorn", "jinja2"), "the studio"),
    "ray": (("ray",), "runs on a cluster"),
}
# Bytes below which a run of some length cannot keep its scores.
_LEAST_FREE = 50_000_000


@dataclass
class _Findings:
    """What a look around found: what gets what is missing, and what is broken."""

    extras: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    weights: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


@click.command("doctor", short_help="Say what is missing here, and what gets it.")
def command() -> None:
    """Say what is installed, what is missing, and the one command that gets it.

    Exits with 2 where something is broken; what is only missing is no fault.
    """
    from fabula._version import __version__
    from fabula.core.installation import spell_way

    findings = _Findings()
    echo(f"fabula {__version__}, Python {sys.version.split()[0]} in {sys.prefix}")
    if way := spell_way():
        echo(way)
    _say_home(findings)
    _say_extras(findings)
    _say_assets(findings)
    _say_metrics(findings)
    _say_remedies(findings)
    if findings.broken:
        echo("Broken:")
        for line in findings.broken:
            echo(f"  {line}")
        sys.exit(2)


def _say_home(findings: _Findings) -> None:
    """Say where things are kept, and whether they can be."""
    from fabula.core.files import cache_home, data_home
    from fabula.core.installation import spell_command
    from fabula.datasets import read_places
    from fabula.models import format_size

    echo(f"cache in {cache_home()}, assets in {data_home()}")
    for folder in (data_home(), cache_home()):
        there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            remedy = "set FABULA_HOME to a folder of yours"
            findings.broken.append(f"{folder} cannot be written; {remedy}")
            return
        if (free := shutil.disk_usage(there).free) < _LEAST_FREE:
            remedy = "make room, or set FABULA_HOME to a folder elsewhere"
            findings.broken.append(f"the disk of {folder} has {format_size(free)} left; {remedy}")
            return
    try:
        places = read_places()
    except UserError as error:
        findings.broken.append(str(error))
        return
    for name, place in places.items():
        if not Path(place.path).exists():
            remedy = f"run: {spell_command(f'data remove {name}')}"
            findings.broken.append(f"data set {name}: {place.path} is not there; {remedy}")


def _say_extras(findings: _Findings) -> None:
    from importlib.util import find_spec

    for name, (packages, use) in _EXTRAS.items():
        absent = [package for package in packages if find_spec(package) is None]
        sign = f"missing {', '.join(absent)}" if absent else "ok"
        echo(f"  extra {name:8} {sign:40} {use}")
        if absent:
            findings.extras.append(name)


def _say_assets(findings: _Findings) -> None:
    from fabula import models

    for name in models.asset_names():
        asset = models.get_asset(name)
        try:
            there = models.find(asset) is not None
        except (UserError, OSError) as error:
            echo(f"  asset {name:14} damaged")
            findings.broken.append(str(error))
            continue
        echo(f"  asset {name:14} {'ok' if there else 'not here'}")
        if not there:
            (findings.weights if asset.is_ours else findings.assets).append(name)


def _say_metrics(findings: _Findings) -> None:
    """Score one story with every metric: those that cannot run say what they need."""
    from fabula.core.machine import switch_on
    from fabula.core.score import Status
    from fabula.core.story import Story
    from fabula.models.store.fetch import LOOK_ONLY
    from fabula.scoring.catalogue import METRICS, choose_metrics
    from fabula.scoring.evaluate import evaluate

    text = "The lamp went out. Nobody lit it again, and the ships learned another way."
    story = Story("check", text, prompt="A lamp.", references=(text,), system="doctor", item="1")
    chosen = choose_metrics(["all", "hanna"])
    findings.broken += map(str, METRICS.broken.values())
    # To ask what is here is not to ask a hub for gigabytes.
    with switch_on(LOOK_ONLY):
        table = evaluate([story], chosen)
    lacking = {score.scorer: score.note for score in table if score.status is Status.MISSING_MODEL}
    failed = {score.scorer: score.note for score in table if score.status is Status.FAILED}
    able = len(chosen) - len(lacking) - len(failed)
    echo(f"  {able} of {len(chosen)} metrics and variants can run")
    for line in _group_specs(lacking):
        echo(f"  {line}")
    findings.broken += _group_specs(failed)


def _group_specs(notes: dict[str, str]) -> Iterator[str]:
    """Name metrics and why they cannot run, a line for each reason; what helps is said once."""
    specs_by_reason: dict[str, list[str]] = {}
    for spec, note in notes.items():
        specs_by_reason.setdefault(note.partition("; run: ")[0], []).append(spec)
    for reason, specs in specs_by_reason.items():
        variants: dict[str, list[str]] = {}
        for spec in specs:
            variants.setdefault(spec.partition("(")[0], []).append(spec)
        names = [
            same[0] if len(same) == 1 else f"{name} ({len(same)} variants)"
            for name, same in variants.items()
        ]
        yield f"{', '.join(names)}: {reason}"


def _say_remedies(findings: _Findings) -> None:
    """Print every command that gets something, once."""
    from fabula.core.installation import spell_command, spell_install, spell_weights_install

    commands = []
    if findings.extras:
        note = "   # torch first, in the build that fits your machine"
        needs_torch = {"models", "train", "vision"} & {*findings.extras}
        commands.append(spell_install(*findings.extras) + (note if needs_torch else ""))
    if findings.weights:
        commands.append(spell_weights_install())
    if findings.assets:
        commands.append(spell_command(f"models pull {' '.join(findings.assets)}"))
    if commands:
        echo("To get what is missing:")
    for line in commands:
        echo(f"  {line}")
