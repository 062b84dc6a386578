"""Options that several commands share, so that one word means one thing everywhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from fabula.cli import silence
from fabula.cli._inputs import LocalPath, OutputPath

# Words for what an option takes; `tests/cli/test_help.py` holds every command to them.
FOLDER, FILE, NAME, COUNT, NUMBER = "FOLDER", "FILE", "NAME", "N", "X"


folder_type = LocalPath(file_okay=False, path_type=Path)
file_type = LocalPath(dir_okay=False, path_type=Path)
existing_folder_type = LocalPath(exists=True, file_okay=False, path_type=Path)

# Where to write. A partial and not a function: what it says differs, how it is spelled does not.
output_option = partial(click.option, "-o", "--output", type=OutputPath(path_type=Path))
_format_option = partial(
    click.option,
    "-f",
    "--format",
    "form",
    default="table",
    show_default=True,
    help="Form of what is printed.",
)
_FORMATS = ("table", "json", "jsonl", "csv")
FORMAT = _format_option(type=click.Choice(_FORMATS))
PAPER_FORMAT = _format_option(type=click.Choice((*_FORMATS, "latex")))
seed_option = partial(
    click.option,
    "--seed",
    type=click.IntRange(0),
    metavar=COUNT,
    default=0,
    show_default=True,
    help="Where chance begins: the same seed gives the same numbers again.",
)
resamples_option = partial(
    click.option,
    "--resamples",
    type=click.IntRange(1),
    metavar=COUNT,
    default=1000,
    show_default=True,
    help="How often the data are drawn again for the intervals.",
)
alpha_option = partial(
    click.option,
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar=NUMBER,
    default=0.05,
    show_default=True,
    help="Level of the tests and intervals: 0.05 gives intervals of 95 %.",
)
database_option = partial(
    click.option,
    "--database",
    metavar="URL",
    help="The studio's database: sqlite:///FILE or postgresql://HOST/NAME. "
    "FABULA_DATABASE_URL names it too.",
)
HOST = click.option(
    "--host", default="127.0.0.1", show_default=True, metavar="HOST", help="Address to listen at."
)
port_option = partial(
    click.option,
    "--port",
    type=click.IntRange(0, 65535),
    metavar=COUNT,
    show_default=True,
    help="Port to listen at; 0 finds a free one.",
)
BATCH = click.option(
    "--batch",
    type=click.IntRange(1, 256),
    metavar=COUNT,
    default=8,
    show_default=True,
    help="How many texts a co-author writes side by side.",
)
TIMEOUT = click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(1),
    metavar=COUNT,
    default=120.0,
    show_default=True,
    help="Seconds that a text may take.",
)
JOBS = click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    metavar=COUNT,
    default=1,
    show_default=True,
    help="How many processes share the work.",
)
CACHE = click.option(
    "--cache",
    type=click.Path(path_type=Path),
    metavar=FILE,
    help="Keep scores in this file instead of the usual cache.",
)
NO_CACHE = click.option(
    "--no-cache", is_flag=True, help="Neither look scores up in the cache nor keep them there."
)
BUDGET = click.option(
    "--budget",
    type=click.FloatRange(0),
    metavar=NUMBER,
    help="Let judges ask for so much money at most, in the unit of the model's prices.",
)
DRY_RUN = click.option(
    "--dry-run", is_flag=True, help="Say what judges would ask and what it would cost; ask nobody."
)
OVERWRITE = click.option(
    "--overwrite",
    is_flag=True,
    help="Write over what is there: another run, or files that Fabula did not write.",
)
QUIET = click.option(
    "-q", "--quiet", is_flag=True, callback=silence, help="Write no progress and no remarks."
)
DATA = click.option(
    "--data",
    type=existing_folder_type,
    metavar=FOLDER,
    envvar="FABULA_DATA",
    help="Folder that holds a folder for each data set, or has such a folder in data/; "
    "else data sets are taken from where `fabula data add` was told they lie.",
)


def need_web() -> None:
    """Say what to install where the studio's packages are not."""
    from importlib.util import find_spec

    from fabula.core.errors import PackageMissing

    for name in ("sqlalchemy", "fastapi", "uvicorn"):
        if find_spec(name) is None:
            raise PackageMissing(name, "web")
