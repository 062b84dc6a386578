"""A crew of Ray: actors of a cluster, each with processors or a GPU of its own.

An actor loads its models once and has one shard at a time, so that nothing piles up: the driver
gives the next when one is done. Stories and scores do not pass through the driver or Ray's object
store; an actor reads its shard where it lies and puts its part in place. Tasks of Ray Data, which
pass blocks of rows on, were slower (docs/scale.md).
"""

from __future__ import annotations

import logging
import os
import shlex
import socket
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fabula.core.errors import PackageMissing, SettingError, UserError
from fabula.core.protocols import watch
from fabula.core.story import count_text
from fabula.scoring.shards.crew import MOST_DEATHS, WorkerLost
from fabula.scoring.shards.plan import Plan
from fabula.scoring.shards.worker import Call, Mark, ShardWorker

# What passes through it are calls and marks; Ray does not take less.
_STORE_BYTES = 128 * 1024 * 1024
_KNOCK_S = 10.0
# So long it is usual that a worker takes to start, and nothing is said of it.
_PATIENCE_S, _LOOK_EVERY_S = 5.0, 5.0
_END_WITHIN_S = 5.0


@dataclass(frozen=True)
class Cluster:
    """Where actors live and what each is given: an empty address starts a cluster here.

    `say` is told where there is room for fewer workers than were asked for.
    """

    address: str = ""
    workers: int = 1
    cpus: float = 1.0
    gpus: float = 0.0
    say: Callable[[str], None] | None = None


class RayCrew:
    """Actors; one that dies is replaced.

    A new one is given nothing before it has started: where its machine is gone too there may be no
    room for it, and a shard of its own would wait for that for ever.
    """

    def __init__(self, plan: Plan, cluster: Cluster) -> None:
        self._ray = _connect(cluster)
        self._cluster = cluster
        threads = max(1, int(cluster.cpus))
        options = {"num_cpus": cluster.cpus, "num_gpus": cluster.gpus, "max_restarts": 0}
        self._make = self._ray.remote(**options)(ShardWorker).remote
        # Networks of ours compute on a GPU where one was asked for, and nowhere else.
        device = "cuda" if cluster.gpus else ""
        self._what = (self._ray.put(plan), threads, device, str(Path.cwd()))
        self._workers = _count_workers(self._ray, cluster)
        self._idle: list[Any] = []
        self._busy: dict[Any, tuple[Any, Call]] = {}
        self._starting: dict[Any, Any] = {}
        self._failed_starts = 0
        for _ in range(self._workers):
            self._start()

    def _start(self) -> None:
        actor = self._make(*self._what)
        self._starting[actor.has_started.remote()] = actor

    @property
    def free(self) -> int:
        """How many have nothing to do."""
        return len(self._idle)

    def give(self, call: Call) -> None:
        """Give a call to one of those that are free."""
        actor = self._idle.pop(0)
        self._busy[actor.answer.remote(call)] = (actor, call)

    def take(self) -> tuple[Call, Mark | Exception] | None:
        """Wait until one is done, or has started; make another in the place of one that died."""
        done = self._wait()
        if done in self._starting:
            self._welcome(done)
            return None
        actor, call = self._busy.pop(done)
        try:
            said: Mark | Exception = self._ray.get(done)
        except self._ray.exceptions.RayError as error:
            words = " ".join(str(error).split())[:200]
            said = WorkerLost(f"was lost: {words}")
            self._start()
        else:
            self._idle.append(actor)
        return call, said

    def _wait(self) -> Any:
        """Wait for an answer; where nobody is at work, say what is waited for."""
        awaited = [*self._busy, *self._starting]
        patience_s = None if self._busy else _PATIENCE_S
        done, _ = self._ray.wait(awaited, num_returns=1, timeout=patience_s)
        wants = f"each takes {self._cluster.cpus:g} CPUs and {self._cluster.gpus:g} GPUs"
        while not done:
            free = self._ray.available_resources()
            room = f"{free.get('CPU', 0):g} and {free.get('GPU', 0):g} are free on the cluster"
            with watch.get().during(f"waiting for a Ray worker to start; {wants}, {room}"):
                done, _ = self._ray.wait(awaited, num_returns=1, timeout=_LOOK_EVERY_S)
        return done[0]

    def _welcome(self, done: Any) -> None:
        """Count one that has started among the idle; start another in the place of one that died.

        Where none can start, as without Fabula on the cluster's machines, that is given up.
        """
        actor = self._starting.pop(done)
        try:
            self._ray.get(done)
        except self._ray.exceptions.RayError as error:
            self._failed_starts += 1
            if self._failed_starts >= MOST_DEATHS * self._workers:
                words = " ".join(str(error).split())[-200:]
                problem = f"no worker starts on the cluster (the last: … {words})"
                remedy = "see that its machines have this Fabula, and memory for a worker"
                raise UserError(problem, remedy) from error
            self._start()
        else:
            self._failed_starts = 0
            self._idle.append(actor)

    def close(self) -> None:
        """End the actors; a cluster that was started here ends with them."""
        busy = (actor for actor, _ in self._busy.values())
        for actor in [*self._idle, *self._starting.values(), *busy]:
            self._ray.kill(actor)
        if self._busy:
            self._ray.wait(list(self._busy), num_returns=len(self._busy), timeout=_END_WITHIN_S)
        self._idle, self._busy, self._starting = [], {}, {}
        self._ray.shutdown()


def _connect(cluster: Cluster) -> Any:
    """Join the cluster, or start one on this machine."""
    # It would tell its makers that it is used, and ask the network for a newer one.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # An idle GPU worker is not ours to hide, nor to warn about.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError:
        raise PackageMissing("ray", "ray") from None
    address = cluster.address or os.environ.get("RAY_ADDRESS", "")
    if address.startswith("ray://") and find_spec("grpc") is None:
        from fabula.core.installation import find_pip

        problem = "ray:// wants Ray's client, which is not installed"
        raise UserError(problem, f"run: {shlex.join([*find_pip(), 'ray[client]'])}")
    quiet: dict[str, Any] = {
        "logging_level": logging.ERROR,
        "log_to_driver": False,
        "configure_logging": True,
    }
    with watch.get().during("joining the Ray cluster" if address else "starting Ray"):
        try:
            if address:
                _knock(address)
                ray.init(address=address, **quiet)
            else:
                ray.init(
                    address="local",
                    num_cpus=max(1, round(cluster.workers * cluster.cpus)),
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    **quiet,
                )
        except (OSError, RuntimeError, ValueError) as error:
            words = " ".join(str(error).split())[:200]
            remedy = "check --address, and RAY_AUTH_TOKEN if the cluster wants one"
            raise UserError(f"Ray cannot be reached ({words})", remedy) from error
    return ray


def _knock(address: str) -> None:
    """See whether anybody listens there: Ray itself would wait for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_S).close()


def _count_workers(ray: Any, cluster: Cluster) -> int:
    """Give how many actors the cluster has room for: others would only be waited for."""
    there = ray.cluster_resources()
    rooms = [there.get("CPU", 0) / cluster.cpus] if cluster.cpus else []
    rooms += [there.get("GPU", 0) / cluster.gpus] if cluster.gpus else []
    workers = min([cluster.workers, *map(int, rooms)])
    if workers < 1:
        has = f"{there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs"
        problem = f"the cluster has {has}, and a worker wants {cluster.cpus:g} and {cluster.gpus:g}"
        raise SettingError(problem, "ask for fewer with --worker-cpus and --worker-gpus")
    if workers < cluster.workers and cluster.say:
        cluster.say(f"the cluster has room for {count_text(workers, 'worker')} of these")
    return workers
