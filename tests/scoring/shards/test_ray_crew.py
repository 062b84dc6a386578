"""What the driver does while Ray starts workers or cannot, by a stand-in for Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fabula.core.errors import UserError
from fabula.core.protocols import Watch, watch
from fabula.datasets.tables.stories import StoryLayout
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.shards import ray_crew, run
from fabula.scoring.shards.crew import OwnCrew, do_calls
from fabula.scoring.shards.ray_crew import Cluster, RayCrew
from fabula.scoring.shards.worker import Call


class RayError(Exception):
    """As Ray says that an actor is lost."""


class FakeRay:
    """Actors that start, answer or die as they are told, by number; an answer is a function."""

    exceptions = SimpleNamespace(RayError=RayError)

    def __init__(self, starts: Callable[[int], Any], answers: Callable[[int], Any]) -> None:
        self.starts, self.answers, self.made, self.waited = starts, answers, 0, 0

    def remote(self, **_: Any) -> Any:
        def make(*_: Any) -> Any:
            number, self.made = self.made, self.made + 1
            has_started = SimpleNamespace(remote=lambda: ("start", number))
            answer = SimpleNamespace(remote=lambda call: ("answer", number))
            return SimpleNamespace(has_started=has_started, answer=answer)

        return lambda _: SimpleNamespace(remote=make)

    def put(self, value: Any) -> Any:
        return value

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def available_resources(self) -> dict[str, float]:
        return {}

    def _say(self, told: tuple[str, int]) -> Any:
        kind, number = told
        return (self.starts if kind == "start" else self.answers)(number)

    def wait(self, told: list[Any], *, num_returns: int, timeout: float | None = None) -> Any:
        done = [one for one in told if self._say(one) is not None][:num_returns]
        self.waited += not done
        assert done or timeout is not None, "it would hang for ever"
        return done, [one for one in told if one not in done]

    def get(self, told: tuple[str, int]) -> Any:
        if isinstance(said := self._say(told), Exception):
            raise said
        return said

    def kill(self, actor: Any) -> None:
        """Nothing lives."""

    def shutdown(self) -> None:
        """Nothing runs."""


class Told(Watch):
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def during(self, doing: str) -> Iterator[None]:
        self.lines.append(doing)
        yield


def open_crew(ray: FakeRay, patch: pytest.MonkeyPatch, workers: int = 2) -> RayCrew:
    patch.setattr(ray_crew, "_connect", lambda cluster: ray)
    plan: Any = None
    return RayCrew(plan, Cluster(workers=workers))


def test_a_worker_in_the_place_of_a_dead_one_gets_nothing_before_it_has_started(
    monkeypatch: pytest.MonkeyPatch,
):
    # The first dies at its shard, and whoever comes in its place finds no machine.
    ray = FakeRay(
        lambda number: None if number > 1 else True,
        lambda number: {1: {}, 0: RayError("its machine is gone")}.get(number),
    )
    plan: Any = None
    with_one = open_crew(ray, monkeypatch)
    calls = [Call("score", number) for number in range(6)]
    done = [call.number for call, _ in do_calls(with_one, calls, plan)]
    assert sorted(done) == list(range(6)) and ray.made == 3


def test_where_no_worker_starts_it_is_said_what_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    ray = FakeRay(lambda number: True if ray.waited > 2 else None, lambda number: {})
    crew, told, plan = open_crew(ray, monkeypatch), Told(), None
    before = watch.set(told)
    try:
        done = list(do_calls(crew, [Call("survey", 0)], plan))  # type: ignore[arg-type]
    finally:
        watch.reset(before)
    assert len(done) == 1
    [line] = set(told.lines)
    words = "waiting for a Ray worker to start; each takes 1 CPUs and 0 GPUs, 0 and 0 are free"
    assert line.startswith(words)


def test_where_every_worker_fails_to_start_it_is_given_up(monkeypatch: pytest.MonkeyPatch):
    ray = FakeRay(lambda number: RayError("No module named 'fabula'"), lambda number: {})
    crew, plan = open_crew(ray, monkeypatch), None
    with pytest.raises(UserError, match=r"no worker starts on the cluster .*No module named 'fabu"):
        list(do_calls(crew, [Call("survey", 0)], plan))  # type: ignore[arg-type]
    assert ray.made == 2 + 19


def test_where_there_is_room_for_fewer_workers_it_is_said(monkeypatch: pytest.MonkeyPatch):
    ray, said = FakeRay(lambda number: True, lambda number: {}), list[str]()
    monkeypatch.setattr(ray_crew, "_connect", lambda cluster: ray)
    plan: Any = None
    RayCrew(plan, Cluster(workers=2, say=said.append))
    assert ray.made == 2 and not said
    RayCrew(plan, Cluster(workers=8, say=said.append))
    assert ray.made == 4 and said == ["the cluster has room for 2 workers of these"]


def test_no_more_workers_are_started_than_there_are_shards(
    tmp_path: Path, shards: str, monkeypatch: pytest.MonkeyPatch
):
    asked: list[int] = []

    def note(plan: Any, cluster: Cluster) -> OwnCrew:
        asked.append(cluster.workers)
        return OwnCrew(plan)

    monkeypatch.setattr(run, "RayCrew", note)
    options = run.ShardOptions(str(tmp_path / "run"), jobs=50, cluster=Cluster(workers=50))
    run.run_shards([shards], StoryLayout(), choose_metrics("words"), options)
    assert asked == [2]


def test_what_the_client_of_ray_wants_is_named(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("ray")
    monkeypatch.setattr(ray_crew, "find_spec", lambda name: None)
    plan: Any = None
    with pytest.raises(UserError, match=r"ray:// wants Ray's client.*; run: .* 'ray\[client\]'$"):
        RayCrew(plan, Cluster("ray://127.0.0.1:1"))
