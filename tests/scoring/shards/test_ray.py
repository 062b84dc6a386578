"""Ray's actors do what processes of this machine do, to the byte; killed ones are replaced."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import UserError
from fabula.datasets.tables.shards import Shard
from fabula.datasets.tables.stories import StoryColumns, StoryLayout
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.shards.plan import Plan
from fabula.scoring.shards.run import ShardOptions, run_shards
from fabula.scoring.shards.worker import Call, ShardWorker

from .conftest import METRICS, make_rows, write_parquet
from .test_run_shards import files_of

pytest.importorskip("ray")
pytest.importorskip("pyarrow")
HERE = Path(__file__).parents[1]
SCORE = [sys.executable, "-c", "from fabula.cli import main; main()", "score"]
TOYS = "slow(seconds=0.01), words, cider"


HEAD = """
import ray, sys
ray.init(address="local", num_cpus=2, include_dashboard=False, object_store_memory=100_000_000)
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def start_cluster(**settings: str) -> Iterator[tuple[str, int]]:
    """Give the address of a cluster of two processors on this machine, and the process it hangs on.

    It has a token of its own, so that nobody else's driver joins it, nor ours another's.
    """
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    own |= {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": os.pathsep.join(paths)} | settings
    with pytest.MonkeyPatch.context() as patch:
        for name, value in own.items():
            if name != "PYTHONPATH":
                patch.setenv(name, value)
        head = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", HEAD],
            env=os.environ | own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert head.stdout and head.stdin
        yield head.stdout.readline().strip(), head.pid
        below = list_below(head.pid)
        head.stdin.close()
        head.stdout.close()
        try:
            head.wait(60)
        except subprocess.TimeoutExpired:  # one whose head is dead may wait for it
            head.kill()
            head.wait()
        for pid in below:
            if is_ray(pid):
                os.kill(pid, signal.SIGKILL)


def list_below(pid: int) -> list[int]:
    """Processes that a process has started, and those that they have."""
    found, todo = [], [pid]
    while todo:
        try:
            children = Path(f"/proc/{todo[-1]}/task/{todo.pop()}/children").read_text().split()
        except OSError:
            continue
        found += [*map(int, children)]
        todo += [*map(int, children)]
    return found


def is_ray(pid: int, part: bytes = b"ray") -> bool:
    """Whether a number is still that of a process of Ray."""
    try:
        return part in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """A cluster for all tests that do not kill it."""
    with start_cluster() as (address, _):
        yield address


def start(
    file: Path, folder: Path, *options: str, env: dict[str, str], cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    words = [str(file), "-o", str(folder), "--shard-stories", "32", "-q", "--no-report"]
    return subprocess.Popen(
        [*SCORE, *words, *options],
        env=env,
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> None:
    _, words = process.communicate(timeout=120)
    assert (process.returncode, words) == (0, b"")


def test_actors_write_the_bytes_that_processes_write(cluster: str, tmp_path: Path):
    file = write_parquet(tmp_path / "all.parquet", make_rows(200))
    options = ShardOptions(str(tmp_path / "local"), stories=32)
    run_shards([str(file)], StoryLayout(), choose_metrics(METRICS), options)
    ray = start(
        file, tmp_path / "ray", "-m", METRICS, "--engine", "ray", "--address", cluster, "-j", "2",
        env=dict(os.environ),
    )  # fmt: skip
    finish(ray)
    assert files_of(tmp_path / "ray") == files_of(tmp_path / "local")


def test_names_relative_to_the_drivers_folder_mean_the_same_to_actors(cluster: str, tmp_path: Path):
    write_parquet(tmp_path / "all.parquet", make_rows(40))
    words = ("-m", "words", "--engine", "ray", "--address", cluster)
    finish(start(Path("all.parquet"), Path("run"), *words, env=dict(os.environ), cwd=tmp_path))
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["input"] == {"format": "parquet", "path": "all.parquet", "stories": 40}


def test_a_worker_without_the_drivers_folder_says_so_only_where_it_needs_it(tmp_path: Path):
    gone = str(tmp_path / "gone")
    shard = Shard(0, "all.parquet", "parquet", 0, 40)
    near = Plan("run", ("all.parquet",), (shard,), StoryColumns({}), StoryLayout(), (), "")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        refused = ShardWorker(near, folder=gone).answer(Call("survey", 0))
        assert isinstance(refused, UserError) and f"{gone} is not on " in str(refused)
        far = replace(shard, file="s3://b/all.parquet")
        elsewhere = replace(near, place=str(tmp_path / "run"), shards=(far,))
        said = ShardWorker(elsewhere, folder=gone).answer(Call("merge", 0, names=("none", "x")))
        assert not isinstance(said, UserError)


NODES = """
import ray, sys
from ray.cluster_utils import Cluster
one = {"num_cpus": 1, "object_store_memory": 100_000_000}
cluster = Cluster(initialize_head=True, head_node_args=one | {"include_dashboard": False})
node = cluster.add_node(**one)
print(cluster.address, flush=True)
for line in sys.stdin:
    if "remove" in line:
        cluster.remove_node(node, allow_graceful=False)
    else:
        node = cluster.add_node(**one)
cluster.shutdown()
"""


@contextmanager
def start_nodes(env: dict[str, str]) -> Iterator[tuple[str, Callable[[str], None]]]:
    """Give the address of a cluster of two machines, and how to `remove` and `add` the second."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", NODES],
        env=env | {"RAY_USAGE_STATS_ENABLED": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin and stdout

    def order(word: str) -> None:
        stdin.write(f"{word}\n")
        stdin.flush()

    try:
        yield stdout.readline().strip(), order
    finally:
        below = list_below(process.pid)
        stdin.close()
        stdout.close()
        process.wait(60)
        for pid in below:
            if is_ray(pid):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_after_the_end_of_a_machine_the_others_go_on(
    tmp_path: Path, toy_environment: dict[str, str]
):
    file = write_parquet(tmp_path / "all.parquet", make_rows(320))
    toys = TOYS.replace("0.01", "0.03")
    finish(start(file, tmp_path / "quiet", "-m", toys, env=toy_environment))
    with start_nodes(toy_environment) as (address, order):
        words = ("-m", toys, "--engine", "ray", "-j", "2", "--address", address)
        driver = start(file, tmp_path / "run", *words, env=toy_environment)
        end = time.monotonic() + 60
        while driver.poll() is None and not list((tmp_path / "run/.shards").glob("score-*.json")):
            assert time.monotonic() < end
            time.sleep(0.05)
        assert driver.poll() is None, driver.communicate()[1]
        order("remove")
        finish(driver)
    assert files_of(tmp_path / "run") == files_of(tmp_path / "quiet")


def find_actors() -> list[int]:
    """Processes of Ray that are at work for us."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::ShardWorker"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_killed_actors_and_a_killed_driver_cost_nothing(
    cluster: str, tmp_path: Path, toy_environment: dict[str, str]
):
    file = write_parquet(tmp_path / "all.parquet", make_rows(320))
    finish(start(file, tmp_path / "quiet", "-m", TOYS, env=toy_environment))
    words = ("-m", TOYS, "--engine", "ray", "--address", cluster, "-j", "2")
    killed: set[int] = set()
    driver = start(file, tmp_path / "killed", *words, env=toy_environment)
    end = time.monotonic() + 60
    while driver.poll() is None and len(killed) < 2 and time.monotonic() < end:
        for pid in find_actors():
            if list((tmp_path / "killed" / ".shards").glob("survey-*")) and pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.2)
    time.sleep(1)
    assert driver.poll() is None and len(killed) >= 2
    driver.kill()
    driver.communicate()
    finish(start(file, tmp_path / "killed", *words, env=toy_environment))
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "quiet")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's /proc")
def test_after_the_death_of_the_head_the_same_command_goes_on_with_another_cluster(
    tmp_path: Path, toy_environment: dict[str, str]
):
    file = write_parquet(tmp_path / "all.parquet", make_rows(320))
    toys = TOYS.replace("0.01", "0.08")  # 2.5 s a shard
    finish(start(file, tmp_path / "quiet", "-m", toys, "-j", "2", env=toy_environment))
    words = ("-m", toys, "--engine", "ray", "-j", "2")
    # Workers go on meanwhile; Ray itself waits a minute for a head that is gone.
    with start_cluster(RAY_gcs_rpc_server_reconnect_timeout_s="2") as (address, pid):
        env = toy_environment | {n: v for n, v in os.environ.items() if n.startswith("RAY_")}
        driver = start(file, tmp_path / "run", *words, "--address", address, env=env)
        end = time.monotonic() + 60
        scored = tmp_path / "run" / ".shards"
        while driver.poll() is None and len(list(scored.glob("score-*.json"))) < 2:
            assert time.monotonic() < end
            time.sleep(0.05)
        [head] = [one for one in list_below(pid) if is_ray(one, b"gcs_server")]
        os.kill(head, signal.SIGKILL)
        _, said = driver.communicate(timeout=120)
        assert driver.returncode not in (0, None), said
    done = {path.name for path in scored.glob("score-*.json")}
    assert 2 <= len(done) < 10, "it was too fast to be killed"
    assert not (tmp_path / "run" / "run.json").exists()
    parts = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "stories").glob("*")}
    finish(start(file, tmp_path / "run", *words, env=toy_environment))
    assert files_of(tmp_path / "run") == files_of(tmp_path / "quiet")
    kept = [path for path, stamp in parts.items() if path.stat().st_mtime_ns == stamp]
    assert len(kept) >= len(done)  # what was done was not done again
    assert not (tmp_path / "run" / ".shards").exists()


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path):
    file = write_parquet(tmp_path / "all.parquet", make_rows(20))
    options: Any = ("-m", "words", "--engine", "ray", "--address", "127.0.0.1:1")
    process = start(file, tmp_path / "run", *options, env=dict(os.environ))
    _, words = process.communicate(timeout=120)
    assert process.returncode == 2 and b"Ray cannot be reached" in words
