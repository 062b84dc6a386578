"""`fabula doctor`: what is installed, what is missing, and the one command that gets it."""

from __future__ import annotations

import sys

import click

from fabula.cli import echo

_EXTRAS = {
    "tables": (("pandas", "pyarrow"), "data frames, Arrow and Parquet"),
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


@click.command("doctor")
def command() -> None:
    """Say what is installed, what is missing, and the one command that gets it."""
    from fabula._version import __version__
    from fabula.core.files import cache_home, data_home

    echo(f"fabula {__version__}, Python {sys.version.split()[0]}")
    echo(f"cache in {cache_home()}, assets in {data_home()}")
    missing = [name for name in _EXTRAS if not _say_extra(name)]
    if missing:
        echo(f"  get what is missing: pip install 'fabula[{','.join(missing)}]'")
    _say_assets()
    _say_metrics()


def _say_extra(name: str) -> bool:
    from importlib.util import find_spec

    packages, use = _EXTRAS[name]
    absent = [package for package in packages if find_spec(package) is None]
    sign = f"missing {', '.join(absent)}" if absent else "ok"
    echo(f"  extra {name:8} {sign:40} {use}")
    return not absent


def _say_assets() -> None:
    from fabula import models

    absent = []
    for name in models.asset_names():
        there = models.find(models.get_asset(name)) is not None
        echo(f"  asset {name:12} {'ok' if there else 'not here'}")
        if not there:
            absent.append(name)
    if absent:
        echo(f"  get what is missing: fabula models pull {' '.join(absent)}")


def _say_metrics() -> None:
    """Score one story with every metric: those that cannot run say what they need."""
    from fabula.core.machine import switch_on
    from fabula.core.score import Status
    from fabula.core.story import Story
    from fabula.scoring.catalogue import choose_metrics
    from fabula.scoring.evaluate import evaluate

    text = "The lamp went out. Nobody lit it again, and the ships learned another way."
    story = Story("check", text, prompt="A lamp.", references=(text,), system="doctor", item="1")
    chosen = choose_metrics(["all", "hanna"])
    # To ask what is here is not to ask a hub for gigabytes.
    with switch_on("FABULA_OFFLINE"):
        table = evaluate([story], chosen)
    lacking = {score.scorer: score.note for score in table if score.status is Status.MISSING_MODEL}
    echo(f"  {len(chosen) - len(lacking)} of {len(chosen)} metrics and variants can run")
    for spec, note in lacking.items():
        echo(f"  {spec}: {note}")
