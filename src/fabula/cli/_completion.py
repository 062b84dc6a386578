"""What the shell completes besides commands and options: names that catalogues and folders hold.

Nothing is imported that is not needed to list names: a key press must not take half a second.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def _complete(
    names: Callable[[str], list[CompletionItem]],
    _context: click.Context,
    _parameter: click.Parameter,
    typed: str,
) -> list[CompletionItem]:
    """Offer names; none where a catalogue cannot be read, for who types waits for no error."""
    from fabula.core.errors import UserError

    try:
        return names(typed)
    except (UserError, OSError):
        return []


def _pick(names: Iterable[str], typed: str, before: str = "") -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(before + name) for name in names if name.startswith(typed)]


def _list_specs(typed: str) -> list[CompletionItem]:
    """Metrics and sets, in a list with commas too; within parentheses the settings of a metric."""
    from fabula.scoring.catalogue import METRICS, SETS

    head, inner = _split_list(typed)
    if "(" not in inner:
        return _pick([*SETS, *METRICS.names()], inner, head)
    name, _, settings = inner.partition("(")
    given, _, setting = settings.rpartition(",")
    if name not in METRICS or "=" in setting or ")" in setting:
        return []
    from fabula.core.settings import setting_fields

    known = [f"{field.name}=" for field in setting_fields(METRICS.get(name))]
    blank = " " * (len(setting) - len(setting.lstrip()))
    before = f"{head}{name}({given}{',' if given else ''}{blank}"
    return _pick(known, setting.lstrip(), before)


def _split_list(typed: str) -> tuple[str, str]:
    """What stands before the entry of a list that is being typed, and that entry."""
    depth = start = 0
    for place, letter in enumerate(typed):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            start = place + 1
    start += len(typed[start:]) - len(typed[start:].lstrip())
    return typed[:start], typed[start:]


def _list_sets(typed: str) -> list[CompletionItem]:
    from fabula.scoring.catalogue import SETS

    return _pick(SETS, typed)


def _list_assets(typed: str) -> list[CompletionItem]:
    from fabula.models.store.asset import asset_names

    return _pick(asset_names(), typed)


def _list_models(typed: str) -> list[CompletionItem]:
    from fabula.models import MODELS
    from fabula.models.store.asset import asset_names

    return _pick([*asset_names(), *(f"{name}(" for name in MODELS.names())], typed)


def _list_authors(typed: str) -> list[CompletionItem]:
    from fabula.authors import AUTHORS

    return _pick(AUTHORS.names(), typed)


def _list_datasets(typed: str) -> list[CompletionItem]:
    from fabula.datasets import DATASETS, list_added

    return _pick(sorted({*DATASETS.names(), *list_added()} - {"table"}), typed)


def _list_perturbations(typed: str) -> list[CompletionItem]:
    from fabula.text.perturb import PERTURBATIONS

    head, inner = _split_list(typed)
    return _pick(PERTURBATIONS, inner, head)


def _list_sources(typed: str) -> list[CompletionItem]:
    """Data sets, and files: a name of either may be meant."""
    return _add_files(_list_datasets(typed), typed)


def _list_assets_or_folders(typed: str) -> list[CompletionItem]:
    return _add_files(_list_assets(typed), typed)


def _list_runs(typed: str) -> list[CompletionItem]:
    """Run folders here or in a folder here, such as runs/mine; else what the shell knows."""
    here = Path(typed).parent if "/" in typed else Path()
    places = sorted({*here.glob("*/run.json"), *here.glob("*/*/run.json")})
    return _pick([place.parent.as_posix() for place in places], typed) or _ask_shell(typed, "dir")


def _add_files(names: list[CompletionItem], typed: str) -> list[CompletionItem]:
    # Bash takes its own file names only where it is given nothing else.
    if names and os.environ.get("_FABULA_COMPLETE", "").startswith("bash"):
        here = Path(typed).parent if "/" in typed else Path()
        files = [path.as_posix() + "/" * path.is_dir() for path in sorted(here.glob("[!.]*"))]
        return [*names, *_pick(files, typed)]
    return [*names, *_ask_shell(typed, "file")]


def _ask_shell(typed: str, kind: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(typed, type=kind)]


complete_specs = partial(_complete, _list_specs)
complete_sets = partial(_complete, _list_sets)
complete_assets = partial(_complete, _list_assets)
complete_models = partial(_complete, _list_models)
complete_authors = partial(_complete, _list_authors)
complete_datasets = partial(_complete, _list_datasets)
complete_perturbations = partial(_complete, _list_perturbations)
complete_sources = partial(_complete, _list_sources)
complete_assets_or_folders = partial(_complete, _list_assets_or_folders)
complete_runs = partial(_complete, _list_runs)
