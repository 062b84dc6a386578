"""`fabula score` in shards: the run, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.cli import echo
from fabula.core.addresses import is_address
from fabula.core.errors import SettingError
from fabula.core.story import count_text

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
    from fabula.core.installation import spell_command
    from fabula.scoring.shards.plan import SHARD_STORIES
    from fabula.scoring.shards.ray_crew import Cluster
    from fabula.scoring.shards.run import ShardOptions, run_shards

    if output is None:
        problem = f"{files[0]}: a run in shards is kept in a folder"
        raise SettingError(problem, "say which: -o FOLDER")
    say = None if quiet else partial(echo, err=True)
    own = (sharding.worker_cpus, sharding.worker_gpus, say)
    cluster = Cluster(sharding.address, how["jobs"], *own) if sharding.engine == "ray" else None
    options = ShardOptions(
        output,
        cluster=cluster,
        stories=sharding.shard_stories or SHARD_STORIES,
        at_once=sharding.at_once or 8,
        progress=show_progress("stories", quiet=quiet),
        on_plan=None if quiet else partial(_say_plan, named=len(files)),
        **how,
    )
    result = run_shards(list(files), layout, metrics, options)
    if is_address(output) and not quiet:
        page = spell_command(f"report {output} -o report.html")
        echo(f"scores and signatures are in {output}; for a report: {page}", err=True)
    return result


def _say_plan(plan: Plan, *, named: int) -> None:
    """Say what is read how; without shards, files that are named one by one would be systems."""
    names = ", ".join(f"{part}={'+'.join(n)}" for part, n in plan.columns.names.items())
    files, cut = count_text(len(plan.files), "file"), count_text(len(plan.shards), "shard")
    echo(f"{Path(plan.files[0]).name} ({files}, {cut}): {names}", err=True)
    is_left_out = plan.layout.columns.get("system") == ""
    if named > 1 and "system" not in plan.columns.names and not is_left_out:
        words = f"no column says the system: {files} are one system without a name"
        echo(f"{words}; in shards a file is none, add a column `system` for that", err=True)
