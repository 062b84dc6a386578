"""Bodies that strangers send."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib

import pytest

from fabula.core.bodies import TooBig, Unreadable, collect_body, inflate, read_json
from fakes.event_loop import run_coroutine

MIB = 1024 * 1024


def collect(messages, most=10, announced=""):
    coming = iter(messages)

    async def receive():
        return next(coming)

    return run_coroutine(collect_body(receive, most, announced))


def test_a_body_is_put_together_up_to_its_bound():
    pieces = [{"type": "http.request", "body": b"12345", "more_body": more} for more in (1, 0)]
    assert collect(pieces) == b"1234512345"
    with pytest.raises(TooBig):
        collect(pieces, most=9)
    with pytest.raises(TooBig):
        collect([], announced="11")
    with pytest.raises(Unreadable):
        collect([pieces[0], {"type": "http.disconnect"}])


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
