from __future__ import annotations

import pytest

from fabula.web.limits import Buckets, TooMany
from fabula.web.settings import Rate


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
