"""The runs of a folder as the browser of runs looks at them: what is slow to make is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import HTMLResponse

from fabula.core.errors import InputError, NotFound
from fabula.meta.compare import Comparison, Procedure, compare
from fabula.reports.report import render_report
from fabula.scoring.folder import RUN
from fabula.scoring.large_pairing import LargePairs, pair_large
from fabula.scoring.lazy_run import LazyRun, is_read_lazily
from fabula.scoring.pairing import PairedRuns, name_runs, pair_runs
from fabula.scoring.run_list import Follower, FoundRun, ShardFollower, find_runs, open_follower
from fabula.web.rendering import answer_page, fill

_RESAMPLES = 2_000


class RunShelf:
    """The runs of a folder; what is slow to make of them is kept until they change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._followers: dict[Path, Follower | ShardFollower] = {}
        self._reports = lru_cache(maxsize=4)(lambda path, stamp: render_report(path))
        self._opened = lru_cache(maxsize=2)(lambda path, stamp: LazyRun(path))
        self._pairs = lru_cache(maxsize=2)(self._pair)
        self._compared = lru_cache(maxsize=8)(self._compare)

    def list_runs(self) -> list[FoundRun]:
        """Find the runs as they are now."""
        return find_runs(self.folder)

    def need_run(self, name: str) -> FoundRun:
        """Find the run of a name."""
        for run in self.list_runs():
            if run.name == name:
                return run
        raise NotFound(f"there is no run {name!r} here", "see the list of runs")

    def need_done(self, name: str) -> FoundRun:
        """Find the run of a name, which has to have scores."""
        run = self.need_run(name)
        if run.record is None:
            reason = run.problem or "it is not done yet"
            raise InputError(f"the run {name!r} cannot be read: {reason}", "look again later")
        return run

    def follow(self, run: FoundRun) -> Follower | ShardFollower:
        """Look at what has come of a run that is being written."""
        assert run.partial is not None
        if run.partial not in self._followers:
            # Those of runs that have ended are not looked at again.
            self._followers = {path: f for path, f in self._followers.items() if path.is_dir()}
            self._followers[run.partial] = open_follower(run.partial)
        follower = self._followers[run.partial]
        follower.look()
        return follower

    def report(self, run: FoundRun) -> tuple[str, str]:
        """The report of a run, and what a browser may run of it."""
        return self._reports(run.path, _stamp(run))

    def open(self, run: FoundRun) -> LazyRun:
        """Open a run where it lies; what was made beside it goes when others are looked at."""
        return self._opened(run.path, _stamp(run))

    def pair(self, runs: Sequence[FoundRun]) -> PairedRuns | LargePairs:
        """Put runs side by side; one alone, if it is given twice."""
        unique = list(dict.fromkeys(run.path for run in runs))
        paired: PairedRuns | LargePairs = self._pairs(
            tuple(unique), tuple(_stamp(run) for run in runs)
        )
        return paired

    def _pair(self, paths: tuple[Path, ...], stamps: tuple[float, ...]) -> PairedRuns | LargePairs:
        if not any(map(is_read_lazily, paths)):
            return pair_runs(paths)
        named = name_runs(paths).items()
        return pair_large(
            {
                name: self._opened(path, stamp)
                for (name, path), stamp in zip(named, stamps, strict=False)
            }
        )

    def compare(self, runs: tuple[FoundRun, FoundRun], systems: tuple[str, str]) -> Comparison:
        """Compare two systems of two runs."""
        which = tuple((run.path, _stamp(run)) for run in runs)
        compared: Comparison = self._compared(which, systems)
        return compared

    def _compare(
        self, which: tuple[tuple[Path, float], ...], systems: tuple[str, str]
    ) -> Comparison:
        paths, stamps = zip(*which, strict=True)
        paired = self._pairs(tuple(dict.fromkeys(paths)), stamps)
        directions = {entry["spec"]: entry["direction"] for entry in paired.metrics}
        how = Procedure(_RESAMPLES)
        source = paired.select({scorer for scorer, _ in paired.keys})
        return compare(source, *systems, directions=directions, procedure=how)


def _stamp(run: FoundRun) -> float:
    return (run.path / RUN).stat().st_mtime


def _shelf(request: Request) -> RunShelf:
    shelf: RunShelf = request.app.state.shelf
    return shelf


Shelf = Annotated[RunShelf, Depends(_shelf)]


def show(template: str, shelf: RunShelf, **values: Any) -> HTMLResponse:
    """Fill a template of the browser of runs."""
    shared = {"csrf": "", "folder": shelf.folder.resolve().name or "runs"}
    return answer_page(fill(template, shared | values))
