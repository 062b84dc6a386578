"""Headers are those of the servers' published references."""

from __future__ import annotations

import time
from email.message import Message
from email.utils import formatdate

import pytest

from fabula.models.servers.limits import RoomLeft, read_room, read_wait


def make_headers(**told: str) -> Message:
    headers = Message()
    for name, value in told.items():
        headers[name.replace("_", "-")] = value
    return headers


def test_openai_tells_spans_in_units() -> None:
    headers = make_headers(
        X_RateLimit_Limit_Requests="60",
        X_RateLimit_Remaining_Requests="59",
        X_RateLimit_Reset_Requests="1s",
        x_ratelimit_limit_tokens="150000",
        x_ratelimit_remaining_tokens="149984",
        x_ratelimit_reset_tokens="6m0s",
    )
    assert read_room(headers) == [
        RoomLeft("requests", 59, 1.0, 60),
        RoomLeft("tokens", 149984, 360.0, 150000),
    ]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20ms", 0.02), ("1m30.5s", 90.5), ("7.66s", 7.66), ("2h", 7200.0), ("12", 12.0)],
)
def test_spans_are_read_in_any_unit(text: str, seconds: float) -> None:
    headers = make_headers(ratelimit_remaining="3", ratelimit_reset=text)
    assert read_room(headers) == [RoomLeft("requests", 3, pytest.approx(seconds))]


def test_anthropic_tells_moments_by_the_servers_own_clock() -> None:
    headers = make_headers(
        date="Sun, 06 Nov 1994 08:49:37 GMT",
        anthropic_ratelimit_requests_limit="50",
        anthropic_ratelimit_requests_remaining="49",
        anthropic_ratelimit_requests_reset="1994-11-06T08:49:38Z",
        anthropic_ratelimit_tokens_remaining="1",
        anthropic_ratelimit_tokens_reset="1994-11-06T08:50:37Z",
        anthropic_ratelimit_input_tokens_remaining="20000",
        anthropic_ratelimit_input_tokens_reset="1994-11-06T08:49:37Z",
    )
    # What is written counts apart: room for what is read is that of the input.
    assert read_room(headers) == [
        RoomLeft("requests", 49, 1.0, 50),
        RoomLeft("tokens", 20000, 0.0),
    ]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"x_ratelimit_remaining_requests": "3"},
        {"x_ratelimit_remaining_requests": "many", "x_ratelimit_reset_requests": "1s"},
        {"x_ratelimit_remaining_requests": "-1", "x_ratelimit_reset_requests": "1s"},
        {"x_ratelimit_remaining_requests": "3", "x_ratelimit_reset_requests": "soon"},
        {"x_ratelimit_remaining_requests": "inf", "x_ratelimit_reset_requests": "1s"},
    ],
)
def test_what_is_told_by_half_or_in_other_words_is_nothing(told: dict[str, str]) -> None:
    assert read_room(make_headers(**told)) == []


def test_how_long_to_wait_is_read_of_whatever_says_it() -> None:
    assert read_wait(make_headers()) is None
    assert read_wait(make_headers(Retry_After="2.5")) == 2.5
    assert read_wait(make_headers(Retry_After="soon")) is None
    assert read_wait(make_headers(retry_after_ms="250", Retry_After="1")) == 0.25
    in_a_minute = make_headers(Retry_After=formatdate(time.time() + 60, usegmt=True))
    assert read_wait(in_a_minute) == pytest.approx(60, abs=2)
    used_up = make_headers(
        x_ratelimit_remaining_requests="5",
        x_ratelimit_reset_requests="50s",
        x_ratelimit_remaining_tokens="0",
        x_ratelimit_reset_tokens="7s",
    )
    assert read_wait(used_up) == 7.0
