from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import SettingError, UserError
from fabula.core.model import Generator, Likelihood
from fabula.models.api import load
from fabula.models.servers import http as _http
from fabula.models.servers.limits import read_wait
from fakes.api_server import Shop, chat

KEY = "sk-very-secret-0123"


@pytest.fixture
def shop(monkeypatch: Any) -> Iterator[Shop]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = Shop()
    yield found
    found.close()


@pytest.fixture
def waits(monkeypatch: Any) -> list[float]:
    """How long it would have waited between tries."""
    found: list[float] = []
    monkeypatch.setattr(_http.time, "sleep", found.append)
    return found


def test_prompts_are_answered_in_order(shop: Shop) -> None:
    model = load("tiny", base_url=shop.url)
    assert isinstance(model, Generator)
    prompts = [f"tale {number}" for number in range(9)]
    assert model.generate(prompts, stop=["END"], seed=3) == [f"re: {one}" for one in prompts]
    question = shop.heard[0]
    assert question["path"] == "/v1/chat/completions"
    assert (question["model"], question["seed"], question["stop"]) == ("tiny", 3, ["END"])
    assert shop.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_no_more_are_asked_at_once_than_allowed(shop: Shop) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def slow(handler: Any) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        shop.give(handler, chat("ok"))

    shop.plan = [slow] * 8
    load("tiny", base_url=shop.url, max_concurrent=2).generate(["a"] * 8)
    assert most == 2


def test_answers_usage_and_cost_are_kept_and_the_key_is_not(shop: Shop, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    shop.plan = [chat(f"you sent {KEY}")]
    model = load("tiny", base_url=shop.url, price_in=2, price_out=10, log=str(log))
    model.generate(["a", "b"])
    # 1,000 tokens read at 2 a million and 200 written at 10 a million, twice: 2 × 0.004.
    assert model.cost == pytest.approx(0.008)
    assert [one.tokens_in for one in model.exchanges] == [1000, 1000]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(line["question"]["messages"][0]["content"] for line in lines) == ["a", "b"]
    assert all(line["answer"]["usage"]["total_tokens"] == 1200 for line in lines)
    assert KEY not in log.read_text()
    assert KEY not in repr(model)
    assert KEY not in model.signature


def test_without_prices_the_cost_is_not_known(shop: Shop) -> None:
    model = load("tiny", base_url=shop.url)
    model.generate(["a"])
    assert model.cost is None
    assert model.exchanges[0].cost is None


def test_a_server_that_is_busy_is_asked_again_when_it_says(shop: Shop, waits: list[float]) -> None:
    busy = {"error": {"message": "slow down"}}
    shop.plan = [(429, {"Retry-After": "7"}, busy), (503, {}, b""), (500, {}, b"")]
    assert load("tiny", base_url=shop.url).generate(["a"]) == ["re: a"]
    assert waits == [7.0, 2.0, 4.0]


def test_a_wait_given_as_a_date_is_understood_and_bounded() -> None:
    assert read_wait({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert read_wait({"retry-after": "soon"}) is None
    assert read_wait({"retry-after": "inf"}) is None


def test_tries_are_bounded(shop: Shop, waits: list[float]) -> None:
    shop.plan = [(429, {"Retry-After": "9999"}, {"error": {"message": "slow down"}})] * 9
    with pytest.raises(UserError, match="says 429: slow down after 3 tries; try again later"):
        load("tiny", base_url=shop.url, retries=2).generate(["a"])
    assert len(shop.heard) == 3
    assert waits == [60.0, 60.0]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"error": {"message": f"bad key {KEY}"}}, "says 401: bad key …; set OPENAI_API_KEY"),
        (404, {"detail": "no model"}, "says 404: no model"),
        (400, b"<h1>no</h1>\n<p>", "says 400: <h1>no</h1> <p>"),
    ],
)
def test_what_the_user_did_wrong_is_not_tried_again(
    shop: Shop, waits: list[float], status: int, body: Any, words: str
) -> None:
    shop.plan = [(status, {}, body)]
    with pytest.raises(UserError) as caught:
        load("tiny", base_url=shop.url).generate(["a"])
    assert words in str(caught.value)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(shop.heard) == 1
    assert waits == []


def test_a_server_that_does_not_answer_in_time_is_given_up(shop: Shop, waits: list[float]) -> None:
    done = threading.Event()
    shop.plan = [lambda handler: done.wait(5)] * 2
    try:
        with pytest.raises(UserError, match=r"no answer within 0\.2 s after 2 tries"):
            load("tiny", base_url=shop.url, timeout_s=0.2, retries=1).generate(["a"])
    finally:
        done.set()


def test_a_body_that_breaks_off_is_asked_for_again(shop: Shop, waits: list[float]) -> None:
    shop.plan = [(200, {"Content-Length": "5000"}, b'{"choices": [')]
    assert load("tiny", base_url=shop.url).generate(["a"]) == ["re: a"]
    assert len(waits) == 1


def test_an_answer_that_is_no_json_is_one_line(shop: Shop, waits: list[float]) -> None:
    shop.plan = [(200, {}, b"<html>hello")] * 2
    with pytest.raises(UserError, match="the answer is no JSON after 2 tries"):
        load("tiny", base_url=shop.url, retries=1).generate(["a"])


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [{"text": 1}]}, [1]])
def test_an_answer_of_another_shape_is_one_line(shop: Shop, body: Any) -> None:
    shop.plan = [body]
    with pytest.raises(UserError, match="OpenAI-compatible"):
        load("tiny", base_url=shop.url).generate(["a"])


def test_a_server_that_is_not_there_is_one_line(waits: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(UserError, match=r"127\.0\.0\.1:\d+: the connection failed .*refused"):
        load("tiny", base_url=url, retries=1).generate(["a"])


def test_the_key_is_not_taken_elsewhere(shop: Shop) -> None:
    shop.plan = [(302, {"Location": f"{shop.url}/elsewhere"}, b"")]
    with pytest.raises(UserError, match="says 302"):
        load("tiny", base_url=shop.url).generate(["a"])
    assert len(shop.heard) == 1


def test_logs_come_from_an_echo_and_are_of_the_text_alone(shop: Shop) -> None:
    logprobs = {
        "tokens": ["Once", " upon", " a", " cat"],
        "token_logprobs": [None, -1.5, -0.5, -3.0],
        "text_offset": [0, 4, 9, 11],
    }
    shop.plan = [{"choices": [{"text": "", "logprobs": logprobs}]}] * 2
    model = load("tiny", base_url=shop.url)
    assert isinstance(model, Likelihood)
    (found,) = model.logs([("Once upon", " a cat")])
    assert found.tokens == (" a", " cat")
    assert found.spans == ((0, 2), (2, 6))
    np.testing.assert_array_equal(found.logs, [-0.5, -3.0])
    assert found.coverage == 1.0
    assert (shop.heard[0]["echo"], shop.heard[0]["max_tokens"]) == (True, 0)
    (alone,) = model.logs([("", "Once upon a cat and dogs and")])
    np.testing.assert_array_equal(alone.logs, [np.nan, -1.5, -0.5, -3.0])
    assert alone.coverage == 15 / 28


def test_no_question_is_asked_of_an_empty_text(shop: Shop) -> None:
    (found,) = load("tiny", base_url=shop.url).logs([("a", "")])
    assert found.tokens == ()
    assert shop.heard == []


def test_a_server_without_logs_of_prompts_is_refused(shop: Shop) -> None:
    shop.plan = [{"choices": [{"text": "a cat", "logprobs": None}]}]
    with pytest.raises(UserError, match="tells no logs of a prompt's tokens"):
        list(load("tiny", base_url=shop.url).logs([("", "a cat")]))


def test_offline_only_this_machine_is_asked(shop: Shop, monkeypatch: Any) -> None:
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    assert load("tiny", base_url=shop.url).generate(["a"]) == ["re: a"]
    with pytest.raises(SettingError, match="FABULA_OFFLINE is set"):
        load("tiny", base_url="https://api.example.org/v1")


@pytest.mark.parametrize(
    "settings",
    [
        {"base_url": "file:///etc/passwd"},
        {"base_url": "http://"},
        {"base_url": "http://[bad"},
        {"base_url": "http://name:word@example.org"},
        {"base_url": "http://localhost", "timeout_s": 0},
        {"base_url": "http://localhost", "retries": -1},
        {"base_url": "http://localhost", "max_concurrent": 0},
        {"base_url": "http://localhost", "price_in": -1.0},
    ],
)
def test_settings_that_will_not_do_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        load("tiny", **settings)


def test_a_log_that_cannot_be_written_is_one_line(shop: Shop, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="cannot write to"):
        load("tiny", base_url=shop.url, log=str(tmp_path)).generate(["a"])
