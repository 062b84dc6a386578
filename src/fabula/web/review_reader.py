"""The process that reads stories for the review page.

It takes one order after the other through a pipe and gives, as they are made, the parts of the
page: counts at once, then scores, then a comment at a time. What it reads it keeps nowhere: no
scores, no vectors, and no word of it in a log.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from fabula.core.children import Message, live_beside
from fabula.core.errors import UserError
from fabula.core.protocols import Watch, watch
from fabula.core.story import Story

if TYPE_CHECKING:
    from fabula.scoring.review import Review

_log = logging.getLogger("fabula.reader")
# What is there before anybody is asked for an opinion.
_COUNTED = ("title", "facts", "repetition", "statistics", "story", "prompt", "length", "look")

Event = dict[str, Any]


@dataclass(frozen=True)
class ReadingOrder:
    """A story to be reviewed, or two drafts of one, the older first; the identity is for this
    once."""

    id: str
    stories: tuple[Story, ...]
    weights: str
    order: str


class Stopped(BaseException):
    """Nobody waits for the review any more. No error, so that nothing on the way catches it."""


def serve_reader(pipe: Connection) -> None:
    """Read stories until the parent says stop or is gone.

    What cannot be helped is said as a problem; anything else ends the process.
    """
    # What a model said of a text is not to lie on a disk either.
    os.environ["FABULA_VECTORS_MB"] = "0"
    cancelled: set[str] = set()
    inbox = live_beside(pipe, cancelled)
    while (message := inbox.get())[0] != "stop":
        order: ReadingOrder = message[1]
        try:
            _read(pipe, order, cancelled)
        # The border of this process. A message may quote what was read, so it goes nowhere; the
        # parent sees the exit code, and starts another.
        except Exception as error:
            places = "".join(traceback.format_tb(error.__traceback__))
            _log.error("a review broke: %s\n%s", type(error).__name__, places)
            os._exit(1)
        cancelled.discard(order.id)
        pipe.send(Message("rested", order.id))


def _read(pipe: Connection, order: ReadingOrder, cancelled: set[str]) -> None:
    def send(event: Event) -> None:
        if order.id in cancelled:
            raise Stopped
        pipe.send(Message("event", (order.id, event)))

    token = watch.set(_Telling(send))
    try:
        for event in review_order(order):
            send(event)
    except UserError as error:
        send({"event": "problem", "message": error.problem, "remedy": error.remedy})
    except Stopped:
        pass
    finally:
        watch.reset(token)


def review_order(order: ReadingOrder) -> Iterator[Event]:
    """Give the events of a review: parts of the page, and at last what can be saved."""
    if len(order.stories) == 2:
        yield from _compare(order)
        return
    from fabula.reports.review_page import render_parts
    from fabula.scoring.review import count_story

    [story] = order.stories
    counted = render_parts(count_story(story))
    sent = {name: counted[name] for name in _COUNTED}
    yield {"event": "parts", "step": "counts", "parts": dict(sent)}
    for number, review in enumerate(_review(order, story)):
        parts = render_parts(review)
        changed = {name: part for name, part in parts.items() if part != sent.get(name)}
        sent |= changed
        yield {"event": "parts", "step": "comment" if number else "scores", "parts": changed}
    yield {"event": "done", "saved": [_save(review)]}


def _review(order: ReadingOrder, story: Story) -> Iterator[Review]:
    from fabula.scoring.review import review_story

    return review_story(story, weights=order.weights, order=order.order, cache=False)


def _save(review: Review) -> dict[str, str]:
    """What a reader can take away: the page in one file, and the values."""
    from fabula.reports.review import render_review

    forms = {form: render_review(form, review) for form in ("html", "json")}
    return {"title": review.story.id, **forms}


def _compare(order: ReadingOrder) -> Iterator[Event]:
    """Two drafts: what changed at once, and how scores moved as they come."""
    from fabula.reports.review_changes import render_changes, render_moves
    from fabula.scoring.review import count_story

    drafts = [count_story(story) for story in order.stories]
    changes = render_changes(*(story.text for story in order.stories))
    yield {"event": "parts", "step": "counts", "parts": changes | render_moves(*drafts)}
    for number, story in enumerate(order.stories):
        *_, drafts[number] = _review(order, story)
        # Half of a comparison would say that everything else is gone.
        if number:
            yield {"event": "parts", "step": "scores", "parts": render_moves(*drafts)}
    yield {"event": "done", "saved": [_save(review) for review in drafts]}


class _Telling(Watch):
    """Passes on what goes on, for a line on the page."""

    def __init__(self, send: Callable[[Event], None]) -> None:
        self._send = send

    def tell(self, doing: str) -> None:
        self._send({"event": "state", "state": "reading", "doing": doing})

    @contextmanager
    def during(self, doing: str) -> Iterator[None]:
        self.tell(doing)
        yield

    def count(self, what: str) -> _Counting:
        return _Counting(what, self._send)


class _Counting:
    """Passes on how many of something are done."""

    def __init__(self, what: str, send: Callable[[Event], None]) -> None:
        self._what, self._send = what, send
        self._done = self._total = 0

    def start(self, total: int) -> None:
        self._total = total
        self.advance(0)

    def advance(self, steps: int) -> None:
        self._done += steps
        told = {"doing": self._what, "done": self._done, "total": self._total}
        self._send({"event": "state", "state": "reading", **told})

    def finish(self) -> None:
        """Nothing follows."""
