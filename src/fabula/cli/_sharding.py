"""Options of `fabula score` for runs in shards, and what is said of such a run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._options import COUNT, NUMBER
from fabula.core.addresses import is_address, is_pattern
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.core.metric import Metric
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.scoring.run import RunResult
    from fabula.scoring.shards.plan import Plan

_OPTIONS = (
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
        metavar=COUNT,
        help="Cut the stories into shards of about so many, which are scored and kept one by one.",
    ),
    click.option(
        "--at-once",
        type=click.IntRange(1),
        metavar=COUNT,
        help="In shards, give a model so many stories at once; a GPU wants more than the usual 8.",
    ),
    click.option(
        "--worker-cpus",
        type=click.FloatRange(0),
        metavar=NUMBER,
        default=1.0,
        show_default=True,
        help="CPUs of each Ray worker, and threads of its models.",
    ),
    click.option(
        "--worker-gpus",
        type=click.FloatRange(0),
        metavar=NUMBER,
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
        if self.engine == "ray" or self.shard_stories or self.at_once:
            return True
        if self.address:
            raise SettingError("--address is that of a Ray cluster", "add --engine ray")
        return is_address(output or "") or any(is_address(f) or is_pattern(f) for f in files)


def sharding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets a `Sharding`."""

    @functools.wraps(command)
    def gather(**options: Any) -> Any:
        names = Sharding.__dataclass_fields__
        told = Sharding(**{name: options.pop(name) for name in names})
        return command(sharding=told, **options)

    for option in reversed(_OPTIONS):
        gather = option(gather)
    return gather


def run_in_shards(
    files: Sequence[str],
    layout: StoryLayout,
    metrics: list[Metric],
    sharding: Sharding,
    *,
    output: str | None,
    quiet: bool,
    **how: Any,
) -> RunResult:
    """Run in shards, saying what goes on unless quiet."""
    from fabula.cli import show_progress
    from fabula.scoring.shards.plan import SHARD_STORIES
    from fabula.scoring.shards.ray_crew import Cluster
    from fabula.scoring.shards.run import ShardOptions, run_shards

    if output is None:
        raise SettingError("a run in shards is kept in a folder", "say which: -o FOLDER")
    own = {"cpus": sharding.worker_cpus, "gpus": sharding.worker_gpus}
    cluster = Cluster(sharding.address, how["jobs"], **own) if sharding.engine == "ray" else None
    options = ShardOptions(
        output,
        cluster=cluster,
        stories=sharding.shard_stories or SHARD_STORIES,
        at_once=sharding.at_once or 8,
        progress=show_progress("stories", quiet=quiet),
        on_plan=None if quiet else _say_plan,
        **how,
    )
    result = run_shards(list(files), layout, metrics, options)
    if is_address(output) and not quiet:
        echo(f"scores and signatures are in {output}", err=True)
    return result


def _say_plan(plan: Plan) -> None:
    names = ", ".join(f"{part}={'+'.join(n)}" for part, n in plan.columns.names.items())
    count = f"{len(plan.files):,} file{'s' * (len(plan.files) > 1)}"
    cut = f"{len(plan.shards):,} shard{'s' * (len(plan.shards) > 1)}"
    echo(f"{Path(plan.files[0]).name} ({count}, {cut}): {names}", err=True)
