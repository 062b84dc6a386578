"""One thread owns the co-author: batches, time limits, failures, and a good end."""

from __future__ import annotations

import threading
import time

import pytest

from fabula.authors import load_author
from fabula.authors.serving.batches import BatchSettings, BatchWriter, WritingFailed
from fabula.core.author import Piece
from fabula.core.errors import NoCapacity, SettingError
from fakes.author_contract import make_request, write


class Scripted:
    """Writes 'ok.' to all, after it has done what a test wants."""

    signature = "scripted"

    def __init__(self, act=lambda requests: None):
        self.act = act
        self.batches, self.threads, self.calls = [], set(), []

    def startup(self):
        self.calls.append("startup")

    def shutdown(self):
        self.calls.append("shutdown")

    def preprocess(self, context):
        self.calls.append(f"preprocess {context.story}")
        self.threads.add(threading.get_ident())

    def generate(self, requests):
        self.batches.append(len(requests))
        self.threads.add(threading.get_ident())
        self.act(requests)
        for request in requests:
            if request.is_cancelled():
                yield Piece(request.id, "", "cancelled")
            else:
                yield Piece(request.id, "draft")
                yield Piece(request.id, "ok.", "done", replaces=True)


@pytest.fixture
def start():
    writers = []

    def open_writer(author, **settings):
        writers.append(BatchWriter(author, BatchSettings(**settings)))
        writers[-1].start()
        return writers[-1]

    yield open_writer
    for writer in writers:
        writer.close()


def test_what_comes_together_is_written_together(start):
    hold = threading.Event()
    author = Scripted(lambda requests: hold.wait(5))
    writer = start(author, size=4)
    first = writer.write(make_request())
    while not author.batches:
        time.sleep(0.005)
    others = [writer.write(make_request("same id")) for _ in range(6)]
    hold.set()
    assert {future.result(5) for future in (first, *others)} == {"ok."}
    assert author.batches == [1, 4, 2]
    assert len(author.threads) == 1
    assert threading.get_ident() not in author.threads


def test_it_writes_what_the_co_author_writes(start):
    request = make_request()
    text = write(load_author("lorem"), request)["r"].text
    assert start(load_author("lorem")).write(request).result(5) == text


def test_a_lone_text_waits_for_company_for_a_moment_only(start):
    writer = start(Scripted(), fill_within_s=0.05)
    began = time.monotonic()
    writer.write(make_request()).result(5)
    assert 0.04 <= time.monotonic() - began < 1


def test_no_more_wait_than_there_is_room_for(start):
    hold = threading.Event()
    author = Scripted(lambda requests: hold.wait(5))
    writer = start(author, size=1, most_waiting=2)
    futures = [writer.write(make_request())]
    while not author.batches:
        time.sleep(0.005)
    futures += [writer.write(make_request()) for _ in range(2)]
    with pytest.raises(NoCapacity, match="too many texts are waiting"):
        writer.write(make_request())
    hold.set()
    assert [future.result(5) for future in futures] == ["ok."] * 3


def test_what_takes_too_long_has_failed(start):
    writer = start(Scripted(lambda requests: time.sleep(0.1)), timeout_s=0.05)
    with pytest.raises(WritingFailed, match=r"nothing was written within 0\.05 s"):
        writer.write(make_request()).result(5)


def test_who_has_gone_cancels_their_text(start):
    stopped = threading.Event()

    def act(requests):
        while not requests[0].is_cancelled():
            time.sleep(0.005)
        stopped.set()

    future = start(Scripted(act)).write(make_request())
    time.sleep(0.1)
    assert future.cancel()
    assert stopped.wait(5)


def test_a_co_author_that_raises_fails_its_batch_and_is_started_again(start, caplog):
    troubles = [RuntimeError("out of memory")]

    def act(requests):
        if troubles:
            raise troubles.pop()

    author = Scripted(act)
    writer = start(author)
    with pytest.raises(WritingFailed, match="the co-author failed; its host's log says why"):
        writer.write(make_request()).result(5)
    assert "out of memory" in caplog.text
    assert writer.write(make_request()).result(5) == "ok."
    assert author.calls == ["startup", "shutdown", "startup"]


def test_a_failed_text_takes_no_others_along(start):
    writer = start(load_author("lorem(fail=0.5)"))
    futures = [writer.write(make_request(f"r{seed}", seed=seed)) for seed in range(20)]
    failed = [future for future in futures if future.exception(5)]
    assert 0 < len(failed) < 20
    assert "told to fail" in str(failed[0].exception())


def test_one_that_writes_no_end_has_failed(start):
    author = Scripted()
    author.generate = lambda requests: iter([Piece(requests[0].id, "One")])
    with pytest.raises(WritingFailed, match="wrote no end"):
        start(author).write(make_request()).result(5)


def test_closing_serves_what_is_waiting_and_takes_no_more(start):
    author = Scripted(lambda requests: time.sleep(0.05))
    writer = start(author, size=2)
    futures = [writer.write(make_request()) for _ in range(7)]
    ready = writer.preprocess(make_request().context)
    writer.close()
    assert [future.result(0) for future in futures] == ["ok."] * 7
    assert ready.done()
    assert author.calls == ["startup", "preprocess story of r", "shutdown"]
    with pytest.raises(NoCapacity, match="about to end"):
        writer.write(make_request())


def test_what_is_missing_is_said_when_it_starts():
    class Poor(Scripted):
        def startup(self):
            raise SettingError("no weights", "fetch them")

    with pytest.raises(SettingError, match="no weights; fetch them"):
        BatchWriter(Poor()).start()
