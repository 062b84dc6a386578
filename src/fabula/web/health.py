"""Whether the process lives, whether it can work, and how much it does."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram
from prometheus_client import generate_latest as spell_metrics
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from pydantic import BaseModel
from starlette.types import Scope

from fabula.core.errors import NotAllowed
from fabula.studio.database import NO_ANSWER, Studio
from fabula.studio.jobs import queue_figures
from fabula.studio.migrations import schema_state
from fabula.web.identity import Anybody, Visit, find_call
from fabula.web.security import is_loopback

# Where several processes count together; `fabula serve --workers` sets it.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
# A worker that lives takes what is due within this time.
_SOON_S = 15
_TRIES, _AGAIN_S = 5, 0.05
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")

router = APIRouter()


class RequestFigures:
    """Requests by route, method and status, and how long they took."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._count = Counter(
            "fabula_requests",
            "Requests answered.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "fabula_request_seconds",
            "Seconds until a request was answered.",
            ("route", "method"),
            buckets=_BUCKETS,
            registry=self.registry,
        )

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Take a request that was answered; paths that lead nowhere are one route."""
        route = getattr(scope.get("route"), "path", "nowhere")
        method = scope["method"] if route != "nowhere" else ""
        self._count.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)


class QueueFigures(Collector):
    """The queue as it is at this moment."""

    def __init__(self, figures: Mapping[str, Any]) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Give the figures as gauges: they come from the database, whoever is asked."""
        jobs = GaugeMetricFamily("fabula_jobs", "Jobs of the queue.", labels=("state", "kind"))
        for state in ("waiting", "leased", "done", "failed", "cancelled"):
            for kind, number in self._figures[state].items():
                jobs.add_metric((state, kind), number)
        yield jobs
        yield GaugeMetricFamily(
            "fabula_oldest_job_seconds",
            "How long the oldest job that is due has waited.",
            self._figures["oldest_waiting_s"],
        )
        waits = GaugeMetricFamily(
            "fabula_first_token_seconds",
            "From asking to the first word, in the last hour.",
            labels=("quantile",),
        )
        for quantile, seconds in self._figures["first_token_s"].items():
            waits.add_metric((str(quantile),), seconds)
        yield waits


class Health(BaseModel):
    """That the process answers."""

    status: str = "ok"


class Readiness(BaseModel):
    """Whether the studio can work; where something is missing, what."""

    ready: bool
    database: str
    tables: str
    worker: str


@router.get("/healthz")
async def read_health() -> Health:
    """Say that the process lives; nothing else is looked at."""
    return Health()


@router.get("/readyz", responses={503: {"model": Readiness}})
def read_readiness(visit: Anybody, response: Response) -> Readiness:
    """Say whether requests can be served: the database answers, and its tables are ours."""
    readiness = look_around(visit.studio)
    response.status_code = 200 if readiness.ready else 503
    return readiness


def look_around(studio: Studio) -> Readiness:
    """Ask all that the studio needs."""
    worker = "unknown"
    try:
        tables = schema_state(studio).state
        if tables == "current":
            worker = _find_worker(queue_figures(studio))
    except NO_ANSWER:
        return Readiness(ready=False, database="does not answer", tables="unknown", worker=worker)
    return Readiness(ready=tables == "current", database="answers", tables=tables, worker=worker)


def _find_worker(figures: Mapping[str, Any]) -> str:
    """Tell by the queue whether somebody works on it: leases are heard of every few seconds.
    Without a worker people still write, so that it does not decide."""
    if figures["leased"]:
        return "at work"
    waits_s = round(figures["oldest_waiting_s"])
    return f"not seen: work waits for {waits_s} s" if waits_s > _SOON_S else "nothing to do"


@router.get("/metrics", response_class=Response, include_in_schema=False)
def read_metrics(visit: Anybody) -> Response:
    """Give the figures for Prometheus: to this machine, or to a token of scope `metrics`."""
    need_metrics(visit)
    if os.environ.get(SHARED_FOLDER):
        requests = _spell_shared()
    else:
        requests = spell_metrics(visit.request.app.state.figures.registry)
    queue = CollectorRegistry()
    queue.register(QueueFigures(queue_figures(visit.studio)))
    return Response(requests + spell_metrics(queue), media_type=CONTENT_TYPE_LATEST)


def _spell_shared() -> bytes:
    """Give what all processes counted together.

    A file that another of them is just making cannot be read for a moment.
    """
    for _ in range(_TRIES - 1):
        with suppress(OSError, RuntimeError, ValueError, struct.error):
            return _gather_shared()
        time.sleep(_AGAIN_S)
    return _gather_shared()


def _gather_shared() -> bytes:
    requests = CollectorRegistry()
    MultiProcessCollector(requests)  # type: ignore[no-untyped-call]
    return spell_metrics(requests)


def need_metrics(visit: Visit) -> None:
    """Refuse who may not see the figures. What a proxy passed on does not come from here, even
    where the proxy is not one that is trusted."""
    headers = visit.request.headers
    if is_loopback(visit.address) and not any(name in headers for name in _FORWARDED):
        return
    person = find_call(visit.request).person
    if "metrics" not in person.scopes and not person.may("admin"):
        raise NotAllowed("these figures are not for everyone", "ask for a token of scope metrics")
