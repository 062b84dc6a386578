"""What commands read: stories (`story_layout`), or a data set with ratings (`dataset_arguments`).

Paths that a command reads or writes itself are of this machine (`LocalPath`, `OutputPath`).

A group of options that travels together reaches the command as one value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources
from fabula.core.errors import SettingError

Command = Callable[..., Any]

# Those of `datasets.tables.rows`, which is not imported before it is needed.
INPUT_FORMATS = (
    *("jsonl", "json", "csv", "tsv", "parquet", "xlsx", "xls", "ods"),
    *("txt", "md", "docx", "odt", "epub", "html", "folder"),
)


class LocalPath(click.Path):
    """A path of this machine: of an address `s3://…` a `Path` would make a folder called `s3:`."""

    is_output = False

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse an address before anybody looks for it on the disk."""
        if "://" in str(value):
            from fabula.core.addresses import drop_scheme, refuse_address

            value = drop_scheme(str(value))
            refuse_address(Path(value), is_output=self.is_output)
        return super().convert(value, param, ctx)


class OutputPath(LocalPath):
    """A path of this machine that is written to."""

    is_output = True


def parse_columns(pairs: Sequence[str], example: str = "rater") -> dict[str, str]:
    """Read ROLE=NAME pairs."""
    parts = [pair.partition("=") for pair in pairs]
    for role, sign, _ in parts:
        if not sign:
            raise SettingError(f"--column {role!r} will not do", f"write --column {example}=NAME")
    return {role.strip(): name for role, _, name in parts}


def column_option(words: str, example: str = "rater") -> Callable[[Command], Command]:
    """Add the option --column, which gives the command a mapping of roles to names."""
    return click.option(
        "-c",
        "--column",
        "columns",
        multiple=True,
        metavar="ROLE=NAME",
        help=words,
        callback=lambda context, option, value: parse_columns(value, example),
    )


def _split_names(_context: click.Context, _option: click.Parameter, text: str | None) -> Any:
    if not text:
        return ()
    from fabula.scoring.sources import split_names

    return split_names(text)


path_option = partial(
    click.option,
    "--path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Folder or file of the data set, where it was not added by `fabula data add`.",
)
PARTIAL = click.option(
    "--partial", is_flag=True, help="Use a release of which some files are missing."
)
COLUMN = column_option("Column of a table that plays a role: rater=annotator; may be repeated.")
GOLD = click.option(
    "--gold",
    metavar="NAMES|FILE",
    help="Columns of a table that hold people's ratings, separated by commas; for a run folder, a "
    "table of ratings or of choices between two stories, or a data set's name.",
)
LOWER = click.option(
    "--lower",
    metavar="NAMES",
    help="Metrics of a table for which lower is better, separated by commas.",
    callback=_split_names,
)
_FORM = (
    click.option(
        "--delimiter",
        metavar="SIGN",
        default="",
        show_default="found out",
        help="What stands between the cells of a CSV file: a character, or one of the words comma, "
        "semicolon, tab, pipe.",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        default="",
        show_default="found out",
        help="Encoding of the file, such as utf-8, cp1252 or utf-16.",
    ),
    click.option(
        "--sheet",
        metavar="NAME|NUMBER",
        default="",
        show_default="the first that is a table",
        help="Sheet of a workbook (.xlsx, .xls, .ods).",
    ),
    click.option(
        "--skip-bad",
        is_flag=True,
        help="Leave out rows and files that cannot be read, and say which, instead of stopping.",
    ),
)
_DATASET = (
    click.argument("source", shell_complete=complete_sources),
    path_option(),
    PARTIAL,
    GOLD,
    COLUMN,
    LOWER,
    *_FORM,
)
_LAYOUT = (
    column_option(
        "Column or field that holds a part of a story: text=story, references=human; may be "
        "repeated.",
        "text",
    ),
    click.option(
        "--input-format",
        type=click.Choice(INPUT_FORMATS),
        metavar="FORM",
        show_default="told by the file's name",
        help=f"Form of the file: {', '.join(INPUT_FORMATS)}.",
    ),
    *_FORM,
)

_SHARDING = (
    click.option(
        "--engine",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Who does the work: processes of this machine, or actors of a Ray cluster.",
    ),
    click.option(
        "--address",
        metavar="URL",
        default="",
        show_default="a cluster started on this machine",
        help="Address of the Ray cluster: auto, HOST:PORT or ray://HOST:PORT.",
    ),
    click.option(
        "--shard-stories",
        type=click.IntRange(1),
        metavar="N",
        help="Cut the stories into shards of about so many, which are scored and kept one by one.",
    ),
    click.option(
        "--at-once",
        type=click.IntRange(1),
        metavar="N",
        help="In shards, give a model so many stories at once; a GPU wants more than the usual 8.",
    ),
    click.option(
        "--worker-cpus",
        type=click.FloatRange(0),
        metavar="X",
        default=1.0,
        show_default=True,
        help="CPUs of each Ray worker, and threads of its models.",
    ),
    click.option(
        "--worker-gpus",
        type=click.FloatRange(0),
        metavar="X",
        default=0.0,
        show_default=True,
        help="GPUs of each Ray worker; 0.5 lets two share one.",
    ),
)


@dataclass(frozen=True)
class Sharding:
    """What was said of engine and shards."""

    engine: str
    address: str
    shard_stories: int | None
    at_once: int | None
    worker_cpus: float
    worker_gpus: float

    def is_wanted(self, files: Sequence[str], output: str | None) -> bool:
        """Whether the run is in shards: because that was said, or by what is read or written."""
        if self.engine == "ray":
            return True
        if self.address:
            raise SettingError("--address is that of a Ray cluster", "add --engine ray")
        if (self.worker_cpus, self.worker_gpus) != (1.0, 0.0):
            problem = "--worker-cpus and --worker-gpus are what a Ray worker is given"
            raise SettingError(problem, "add --engine ray")
        if self.shard_stories or self.at_once:
            return True
        return _lie_elsewhere([*files, *([output] if output else [])])


def dataset_arguments(command: Command) -> Command:
    """Add SOURCE and the options that say how to read it; the command gets a `DatasetSource`."""

    @functools.wraps(command)
    def gather(*, source: str, **options: Any) -> Any:
        from fabula.core.addresses import drop_scheme, is_address
        from fabula.datasets.tables.text_file import FileForm
        from fabula.scoring.sources import DatasetSource

        form = FileForm(**pop_form(options))
        names = ("path", "partial", "gold", "columns", "lower")
        told = {name: options.pop(name) for name in names}
        if not is_address(source := drop_scheme(source)):
            return command(source=DatasetSource(source, **told, form=form), **options)
        from fabula.scoring.fetched_run import fetch_run

        with fetch_run(source) as folder:
            return command(source=DatasetSource(str(folder), **told, form=form), **options)

    return _add(_DATASET, gather)


def story_layout(command: Command) -> Command:
    """Add the options that say how to read a file of stories; the command gets a `StoryLayout`."""

    @functools.wraps(command)
    def gather(*, input_format: str | None, columns: dict[str, str], **options: Any) -> Any:
        from fabula.datasets.tables.stories import StoryLayout

        layout = StoryLayout(input_format or "", columns, **pop_form(options))
        return command(layout=layout, **options)

    return _add(_LAYOUT, gather)


def sharding_options(command: Command) -> Command:
    """Add the options that say who does the work; the command gets a `Sharding`."""

    @functools.wraps(command)
    def gather(**options: Any) -> Any:
        names = Sharding.__dataclass_fields__
        told = Sharding(**{name: options.pop(name) for name in names})
        return command(sharding=told, **options)

    return _add(_SHARDING, gather)


def _lie_elsewhere(names: Sequence[str]) -> bool:
    """Whether a name is an address, or a pattern that stands for files."""
    if not any("://" in name or set(name) & set("*?[") for name in names):
        return False
    from fabula.core.addresses import is_address, is_pattern

    return any(is_address(name) or is_pattern(name) for name in names)


def form_options(command: Command) -> Command:
    """Add the options that say how a file is written; `pop_form` makes them one value."""
    return _add(_FORM, command)


def pop_form(options: dict[str, Any]) -> dict[str, Any]:
    """Take what says how a file is written; who is to be told what is found out, on stderr."""
    form = {name: options.pop(name) for name in ("delimiter", "encoding", "sheet", "skip_bad")}
    return form | {"say": None if options.get("quiet") else _say}


def _say(line: str) -> None:
    echo(line, err=True)


def _add(parts: Sequence[Callable[[Command], Command]], command: Command) -> Command:
    for part in reversed(parts):
        command = part(command)
    return command
