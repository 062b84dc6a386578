"""Answers as they are written, of both kinds of servers."""

from __future__ import annotations

import json
import threading
import time
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.core.errors import SettingError, UserError
from fabula.core.model import Generator
from fabula.models.api import load
from fabula.models.servers import http
from fabula.models.servers.http import StreamBroken
from fabula.models.servers.wire import WIRES, Wish
from fakes.api_server import Shop, Streaming, anthropic_events, chat, message, openai_events

KEY = "sk-very-secret-0123"
WORDS = ["Grüß", " dich", ",\n", " Eule 🦉", "."]
EVENTS = {"openai": openai_events, "anthropic": anthropic_events}
STYLES = list(EVENTS)
KEYS = st.sampled_from(
    ["choices", "delta", "content", "usage", "error", "type", "message", "text", "finish_reason"]
)


@pytest.fixture
def shop(monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, KEY)
    found = Shop()
    yield found
    found.close()


@pytest.fixture
def waits(monkeypatch):
    """How long it would have waited between tries."""
    found: list[float] = []
    monkeypatch.setattr(http, "_pause", lambda seconds, cancel: found.append(seconds))
    return found


def open_model(shop, style, **settings):
    return load("tiny", base_url=shop.url, style=style, **settings)


@pytest.mark.parametrize("style", STYLES)
def test_pieces_come_as_they_are_sent_and_are_counted(shop, style):
    shop.plan = [Streaming(EVENTS[style](WORDS))]
    model = open_model(shop, style, price_in=2, price_out=10)
    stream = model.stream("go on", Wish(max_tokens=9, stop=["END"]), system="Be brief.")
    assert list(stream) == WORDS
    assert (stream.text, stream.ending, stream.tokens) == ("".join(WORDS), "stop", (1000, 200))
    # 1,000 tokens read at 2 a million and 200 written at 10 a million.
    assert model.cost == pytest.approx(0.004)
    assert model.exchanges[0].answer["streamed"] == stream.text
    assert shop.heard[0]["stream"] is True


def test_a_question_in_the_style_of_anthropic(shop):
    shop.plan = [message("Once.")]
    model = open_model(shop, "anthropic")
    assert isinstance(model, Generator)
    wish = {"max_tokens": 7, "temperature": 1.4, "stop": ["END", "\n"], "seed": 3}
    assert model.generate(["go on"], system="Be brief.", **wish) == ["Once."]
    (heard,) = shop.heard
    assert heard == {
        "path": "/v1/messages",
        "model": "tiny",
        "max_tokens": 7,
        "messages": [{"role": "user", "content": "go on"}],
        "system": "Be brief.",
        "temperature": 1.0,
        "stop_sequences": ["END"],
    }
    sent = {name.lower(): value for name, value in shop.headers[0].items()}
    assert (sent["x-api-key"], sent["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in sent
    assert (model.exchanges[0].tokens_in, model.exchanges[0].tokens_out) == (1000, 200)


def test_of_temperature_and_nucleus_anthropic_is_told_one(shop):
    shop.plan = [message("a"), message("b")]
    model = open_model(shop, "anthropic")
    model.generate(["x"], temperature=1.0, top_p=0.9)
    model.generate(["x"], temperature=0.9, top_p=0.9)
    assert (shop.heard[0].get("temperature"), shop.heard[0]["top_p"]) == (None, 0.9)
    assert (shop.heard[1]["temperature"], shop.heard[1].get("top_p")) == (0.9, None)


def test_the_system_speaks_first_in_the_style_of_openai(shop):
    open_model(shop, "openai").generate(["go on"], system="Be brief.")
    roles = [each["role"] for each in shop.heard[0]["messages"]]
    assert roles == ["system", "user"]


def test_logs_are_not_asked_of_anthropic(shop):
    with pytest.raises(UserError, match="tells no logs"):
        list(open_model(shop, "anthropic").logs([("", "a cat")]))
    assert shop.heard == []


@pytest.mark.parametrize(
    ("style", "ending", "meaning"),
    [
        ("openai", "length", "length"),
        ("openai", "content_filter", "refusal"),
        ("openai", None, "stop"),
        ("anthropic", "max_tokens", "length"),
        ("anthropic", "refusal", "refusal"),
        ("anthropic", "stop_sequence", "stop"),
    ],
)
def test_why_an_answer_ended_is_told_alike(shop, style, ending, meaning):
    shop.plan = [Streaming(EVENTS[style](["a"], ending))]
    stream = open_model(shop, style).stream("x", Wish())
    assert (list(stream), stream.ending) == (["a"], meaning)


@pytest.mark.parametrize(
    ("style", "answer"), [("openai", chat("ok")), ("anthropic", message("ok"))]
)
def test_a_server_that_does_not_stream_gives_one_piece(shop, style, answer):
    shop.plan = [(200, {"Content-Type": "application/json"}, answer)]
    stream = open_model(shop, style).stream("x", Wish())
    assert (list(stream), stream.tokens) == (["ok"], (1000, 200))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("drops", [True, False])
def test_a_connection_that_drops_gives_what_was_received(shop, style, drops):
    shop.plan = [Streaming(EVENTS[style](WORDS)[:5], drops=drops)]
    stream, pieces = open_model(shop, style).stream("x", Wish()), []
    with pytest.raises(StreamBroken) as caught:
        for piece in stream:
            pieces.append(piece)
    assert pieces
    assert caught.value.received == "".join(pieces)
    assert len(shop.heard) == 1


@pytest.mark.parametrize(
    ("style", "event"),
    [
        ("openai", {"error": {"message": f"no more {KEY}"}}),
        ("anthropic", {"type": "error", "error": {"type": "x", "message": f"no more {KEY}"}}),
    ],
)
def test_an_error_in_the_middle_is_told_in_the_servers_words(shop, style, event):
    events = EVENTS[style](WORDS)[:5]
    shop.plan = [Streaming([*events, f"event: error\ndata: {json.dumps(event)}\n\n"])]
    with pytest.raises(StreamBroken, match="the server says: no more …; ask again") as caught:
        list(open_model(shop, style).stream("x", Wish()))
    assert caught.value.received
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("style", STYLES)
def test_before_the_first_piece_it_is_asked_again(shop, waits, style):
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    shop.plan = [
        (429, {"Retry-After": "7"}, {"error": {"message": "slow down"}}),
        Streaming([f"event: error\ndata: {json.dumps(error)}\n\n"]),
        Streaming(EVENTS[style]([])[:1], drops=True),
        Streaming(EVENTS[style](WORDS)),
    ]
    assert list(open_model(shop, style).stream("x", Wish())) == WORDS
    assert waits == [7.0, 2.0, 4.0]


def test_tries_are_bounded(shop, waits):
    shop.plan = [(503, {}, b"")] * 9
    with pytest.raises(UserError, match="says 503: nothing more after 3 tries"):
        list(open_model(shop, "openai", retries=2).stream("x", Wish()))
    assert len(shop.heard) == 3


@pytest.mark.parametrize("style", STYLES)
def test_an_answer_without_text_is_an_answer(shop, style):
    shop.plan = [Streaming(EVENTS[style]([]))]
    stream = open_model(shop, style).stream("x", Wish())
    assert (list(stream), stream.ending) == ([], "stop")


@pytest.mark.parametrize("style", STYLES)
def test_who_leaves_closes_the_connection(shop, style):
    answer = Streaming(EVENTS[style](["word "] * 20_000), pause_s=0.001)
    shop.plan = [answer]
    model = open_model(shop, style)
    pieces = iter(model.stream("x", Wish()))
    next(pieces)
    pieces.close()
    assert answer.was_cut.wait(5)
    assert answer.sent < 10_000
    assert model.exchanges[0].answer["streamed"]


def test_another_thread_can_close_a_stream_that_is_silent(shop):
    done = threading.Event()
    silent = chain(openai_events(["a"])[:2], (f": {done.wait(20)}\n" for _ in range(1)))
    shop.plan = [Streaming(silent)]
    stream = open_model(shop, "openai", timeout_s=30).stream("x", Wish())
    began = time.monotonic()
    threading.Timer(0.2, stream.close).start()
    try:
        assert list(stream) == ["a"]
        assert time.monotonic() - began < 5
    finally:
        done.set()


def test_closing_ends_the_waiting_for_another_try(shop):
    shop.plan = [(429, {"Retry-After": "50"}, b"")]
    stream = open_model(shop, "openai").stream("x", Wish())
    threading.Timer(0.2, stream.close).start()
    began = time.monotonic()
    assert list(stream) == []
    assert time.monotonic() - began < 5
    assert list(stream) == []


def test_a_line_without_end_is_refused(shop, monkeypatch):
    monkeypatch.setattr(
        "fabula.models.servers.stream.read_events.__defaults__", (1000,), raising=True
    )
    shop.plan = [Streaming(["data: " + "x" * 5000])]
    with pytest.raises(UserError, match="a line has more than 1,000 characters"):
        list(open_model(shop, "openai").stream("x", Wish()))


def test_an_answer_without_end_is_left(shop, monkeypatch):
    monkeypatch.setattr("fabula.models.servers.stream.LONGEST_TEXT", 1000)
    answer = Streaming(openai_events(["word "] * 100_000))
    shop.plan = [answer]
    with pytest.raises(StreamBroken, match="more than 1,000 characters") as caught:
        list(open_model(shop, "openai").stream("x", Wish()))
    assert caught.value.received == "word " * 200
    assert answer.was_cut.wait(5)


def test_options_that_a_model_refuses_are_left_out_from_then_on(shop):
    no = (
        "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    )
    warm = "Unsupported value: 'temperature' does not support 0.8 with this model."
    shop.plan = [(400, {}, {"error": {"message": said}}) for said in (no, warm)]
    model = open_model(shop, "openai")
    assert model.generate(["a"], max_tokens=5) == ["re: a"]
    assert model.generate(["b"], max_tokens=5) == ["re: b"]
    assert model.refused == {"max_tokens", "temperature"}
    for heard in shop.heard[2:]:
        assert heard["max_completion_tokens"] == 5
        assert not {"max_tokens", "temperature"} & heard.keys()
    assert len(shop.heard) == 4


def test_a_key_is_named_by_the_style_or_by_hand(shop, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", "other")
    shop.plan = [(401, {}, {"error": {"message": "invalid x-api-key"}}), message("ok")]
    with pytest.raises(UserError, match="set ANTHROPIC_API_KEY"):
        open_model(shop, "anthropic").generate(["a"])
    open_model(shop, "anthropic", key_env="OTHER_KEY").generate(["a"])
    assert {key.lower(): v for key, v in shop.headers[1].items()}["x-api-key"] == "other"
    with pytest.raises(SettingError, match="style"):
        open_model(shop, "other")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(STYLES), st.dictionaries(KEYS, PLAIN, max_size=5))
def test_an_event_of_any_shape_adds_text_or_nothing(style, event):
    delta = WIRES[style].read_event(event)
    assert isinstance(delta.text, str)
    assert all(count is None or isinstance(count, int) for count in delta.tokens)
