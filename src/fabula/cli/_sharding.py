"""`fabula score` in shards: the run, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.cli import echo
from fabula.core.addresses import is_address
from fabula.core.errors import SettingError

if TYPE_CHECKING:
    from fabula.cli._inputs import Sharding
    from fabula.core.metric import Metric
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.scoring.run import RunResult
    from fabula.scoring.shards.plan import Plan


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
        problem = f"{files[0]}: a run in shards is kept in a folder"
        raise SettingError(problem, "say which: -o FOLDER")
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
