"""The line before the reader: one at a time, none for ever, and a reader that may break."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from fabula.core.children import Message, live_beside
from fabula.core.errors import Conflict, NoCapacity
from fabula.core.story import Story
from fabula.web import review_queue
from fabula.web.review_queue import QueuePace, ReviewQueue
from fabula.web.review_reader import ReadingOrder
from fakes.event_loop import run_coroutine


def obey(pipe):
    """A reader that does what its text says: `echo`, `break` or `sleep`."""
    cancelled = set()
    inbox = live_beside(pipe, cancelled)
    while (message := inbox.get())[0] != "stop":
        order = message[1]
        [story] = order.stories
        if story.text == "break":
            os._exit(3)
        while story.text == "sleep" and order.id not in cancelled:
            time.sleep(0.01)
        if story.text == "deaf":
            time.sleep(60)
        pipe.send(Message("event", (order.id, {"event": "done", "pid": os.getpid()})))
        pipe.send(Message("rested", order.id))


@pytest.fixture
def make_queue(monkeypatch):
    monkeypatch.setattr(review_queue, "serve_reader", obey)
    queues = []

    def make(**pace):
        queues.append(ReviewQueue(QueuePace(**{"grace_s": 0.3, "within_s": 20.0} | pace)))
        return queues[-1]

    yield make
    for queue in queues:
        queue.end()


def order(text):
    return ReadingOrder(f"order {text}", (Story("x", text),), "fake", "fake")


async def read(queue, text, who="ann"):
    """What came, without what is said on the way."""
    events = [event async for event in await queue.read(who, order(text))]
    return [event for event in events if event["event"] not in ("state", "alive")]


def test_a_reader_is_started_once_and_ends_when_it_is_idle(make_queue):
    queue = make_queue(idle_s=0.3)
    first, second = (run_coroutine(read(queue, "echo"))[0]["pid"] for _ in range(2))
    assert first == second != os.getpid()
    until = time.monotonic() + 10
    while queue.child is not None and time.monotonic() < until:
        time.sleep(0.02)
    assert queue.child is None
    assert run_coroutine(read(queue, "echo"))[0]["pid"] != first


def test_a_reader_that_breaks_is_a_sentence_and_the_next_is_fresh(make_queue):
    queue = make_queue()
    [problem] = run_coroutine(read(queue, "break"))
    assert problem["message"] == "the reader broke down over this text" and problem["remedy"]
    assert run_coroutine(read(queue, "echo"))[0]["event"] == "done"


def test_a_story_that_takes_too_long_is_given_up(make_queue):
    queue = make_queue(within_s=0.5)
    [problem] = run_coroutine(read(queue, "deaf"))
    assert "took longer than" in problem["message"]
    queue.pace = QueuePace(within_s=20.0)
    assert run_coroutine(read(queue, "echo"))[0]["event"] == "done"


def test_one_waits_in_line_a_person_has_one_place_and_the_line_has_an_end(make_queue):
    queue = make_queue(most=2)

    async def meet():
        slow = await queue.read("ann", order("sleep"))
        assert (await anext(slow))["ahead"] == 0
        with pytest.raises(Conflict, match="a story of yours is being read"):
            await queue.read("ann", order("echo"))
        waiting = await queue.read("ben", order("echo"))
        assert (await anext(waiting)) == {"event": "state", "state": "waiting", "ahead": 1}
        with pytest.raises(NoCapacity, match="many stories wait"):
            await queue.read("cat", order("echo"))
        # Who goes away makes room, and the reader hears of it.
        await slow.aclose()
        return [event async for event in waiting]

    assert run_coroutine(asyncio.wait_for(meet(), 30))[-1]["event"] == "done"


def test_a_reader_that_does_not_hear_that_nobody_waits_is_ended(make_queue):
    queue = make_queue()

    async def leave():
        deaf = await queue.read("ann", order("deaf"))
        await anext(deaf)
        await deaf.aclose()
        return await asyncio.wait_for(read(queue, "echo"), 20)

    assert run_coroutine(leave())[0]["event"] == "done"
