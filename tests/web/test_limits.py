from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib

import pytest

from fabula.web.limits import Buckets, TooBig, TooMany, Unreadable, inflate, read_json
from fabula.web.settings import Rate

MIB = 1024 * 1024


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_bucket_gives_as_many_as_it_holds_and_then_as_time_brings_them():
    clock = Clock()
    buckets = Buckets(Rate(3, 60), clock)
    for _ in range(3):
        buckets.take("ann")
    with pytest.raises(TooMany) as refused:
        buckets.take("ann")
    assert refused.value.wait_s == pytest.approx(20)
    buckets.take("ben")
    clock.now = 20.1
    buckets.take("ann")
    with pytest.raises(TooMany):
        buckets.take("ann")


def test_a_bucket_does_not_fill_beyond_its_size():
    clock = Clock()
    buckets = Buckets(Rate(2), clock)
    buckets.take("ann")
    clock.now = 2000.0
    buckets.take("ann")
    buckets.take("ann")
    with pytest.raises(TooMany):
        buckets.take("ann")


def test_a_rate_of_zero_is_no_limit():
    buckets = Buckets(Rate(0), Clock())
    for _ in range(10_000):
        buckets.take("ann")


def test_those_not_seen_for_longest_are_forgotten(monkeypatch):
    monkeypatch.setattr("fabula.web.limits._MOST_KEYS", 10)
    buckets = Buckets(Rate(1), Clock())
    for number in range(25):
        buckets.take(str(number))
    with pytest.raises(TooMany):
        buckets.take("24")
    buckets.take("0")


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data, wbits=-15)),
        ("gzip", lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:])),
    ],
    ids=["gzip", "zlib", "bare deflate", "gzip twice"],
)
def test_a_compressed_body_is_unpacked(encoding, pack):
    data = json.dumps({"words": ["lantern"] * 5000}).encode()
    assert inflate(pack(data), encoding, MIB) == data


def test_a_gzip_bomb_is_refused_without_unpacking_it():
    bomb = gzip.compress(bytes(200 * MIB))
    assert len(bomb) < MIB
    tracemalloc.start()
    with pytest.raises(TooBig):
        inflate(bomb, "gzip", 2 * MIB)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MIB


@pytest.mark.parametrize(
    "data",
    [b"plain words", gzip.compress(b"x" * 1000)[:-12], gzip.compress(b"x") + b"trailing"],
    ids=["no gzip", "cut off", "something after it"],
)
def test_a_broken_body_is_refused(data):
    with pytest.raises(Unreadable):
        inflate(data, "gzip", MIB)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "NaN",
        '{"a": Infinity}',
        '{"a": -Infinity}',
        "[" * 100_000,
        "[" * 65 + "]" * 65,
        '{"a":' * 70 + "1" + "}" * 70,
        '"\\u0000"',
        '{"a": ["\\ud800"]}',
        '{"\\u0000": 1}',
        "1" * 5000,
        "1e999",
        "\xff\xfe",
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_sound_json_is_refused(text):
    with pytest.raises(Unreadable):
        read_json(text.encode("latin-1"))


@pytest.mark.parametrize(
    "value",
    [
        {"text": "Käse \u4e2d\U0001f600", "n": [1, 2.5, None, True]},
        [[[["deep enough"]]]],
        [{"a": [1]}] * 500,
        "\\u0000 spelled out",
    ],
)
def test_sound_json_is_read(value):
    assert read_json(json.dumps(value).encode()) == value
    assert read_json(json.dumps(value, ensure_ascii=False).encode()) == value
