from __future__ import annotations

from itertools import pairwise
from threading import Event

import pytest

from fabula.models.asking.pacing import LONGEST_HOLD_S, Pace, draw_wait
from fabula.models.servers.limits import RoomLeft


class Clock(Event):
    """A clock that waiting moves on."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.now += timeout
        return False


def start_times(pace: Pace, clock: Clock, tokens: list[int]) -> list[float]:
    begun = clock.now
    starts = []
    for count in tokens:
        assert pace.wait(count, clock)
        starts.append(clock.now - begun)
    return starts


def test_requests_go_out_evenly_after_a_seconds_worth() -> None:
    clock = Clock()
    pace = Pace(requests_per_minute=120, clock=lambda: clock.now)
    # Two a second: those of one second at once, then one each half second.
    assert start_times(pace, clock, [1] * 6) == pytest.approx([0, 0, 0, 0.5, 1.0, 1.5])


def test_tokens_are_counted_and_what_was_not_needed_is_given_back() -> None:
    clock = Clock()
    pace = Pace(tokens_per_minute=6000, clock=lambda: clock.now)
    assert start_times(pace, clock, [500, 500]) == pytest.approx([0, 4.0])  # 100 a second
    pace.settle(500, 100)
    assert start_times(pace, clock, [100]) == pytest.approx([1.0])  # of the five, four are back


def test_the_stricter_limit_counts() -> None:
    clock = Clock()
    pace = Pace(requests_per_minute=60, tokens_per_minute=6000, clock=lambda: clock.now)
    assert start_times(pace, clock, [200, 200, 10])[-1] == pytest.approx(3.0)


def test_a_pause_holds_up_everybody() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    pace.hold(7.0)
    pace.hold(3.0)  # the longer one counts
    assert start_times(pace, clock, [1, 1]) == pytest.approx([7.0, 7.0])
    pace.hold(1e9)
    assert start_times(pace, clock, [1]) == pytest.approx([LONGEST_HOLD_S])


def test_a_server_that_says_nothing_is_left_alone_longer_each_time() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    waits = []
    for _ in range(5):
        pace.hold(None)
        pace.hold(None)  # of one who was on the way
        waits += start_times(pace, clock, [1])
    for number, wait_s in enumerate(waits):
        assert 0.25 * 2**number <= wait_s <= 0.5 * 2**number
    pace.go_on()
    pace.hold(None)
    assert start_times(pace, clock, [1])[0] <= 0.5


def test_waits_double_up_to_a_minute_and_are_drawn_by_chance() -> None:
    for tries in range(12):
        waits = {draw_wait(1.0, tries) for _ in range(20)}
        longest = min(2.0**tries, LONGEST_HOLD_S)
        assert all(longest / 2 <= wait_s <= longest for wait_s in waits)
        assert len(waits) > 10


def test_who_is_called_off_does_not_wait() -> None:
    pace, cancel = Pace(), Event()
    pace.hold(50.0)
    cancel.set()
    assert not pace.wait(1, cancel)


def test_a_limit_that_nobody_tells_is_learned_when_one_is_turned_away_and_grows() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    for number in range(50):  # ten a second for five seconds, of which six are answered
        clock.now += 0.1
        assert pace.wait(1, clock)
        if number % 10 < 6:
            pace.go_on()
    for wait_s in (0.1, 0.05):  # two at once are one occasion
        pace.hold(wait_s)
    starts = start_times(pace, clock, [1] * 9)
    gaps = [after - before for before, after in pairwise(starts)]
    # 50 in 4.9 s, and a fifth less: 8.2 a second; three per cent more each second from there on.
    assert starts[0] == pytest.approx(0.1)
    assert all(0.11 < gap < 0.123 for gap in gaps[1:])
    clock.now += 2
    for _ in range(4):  # less and less, but no less than is answered
        pace.hold(0.0)
        clock.now += 1.1
    start_times(pace, clock, [1] * 9)
    gaps = [after - before for before, after in pairwise(start_times(pace, clock, [1] * 4))]
    assert all(0.2 < gap < 0.4 for gap in gaps)  # 30 in 8 s, as they were answered
    clock.now += 60
    start_times(pace, clock, [1] * 40)
    later = start_times(pace, clock, [1] * 4)
    assert later[3] - later[2] < 0.08  # 1.03 ** 60 is 5.9 times as fast


def test_who_was_held_up_when_a_limit_was_learned_queues_up_by_it() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    pace.hold(5.0)
    wait, pauses = clock.wait, [0.0]

    def turn_away_another(timeout: float | None = None) -> bool:
        wait(timeout)
        if pauses:
            pace.hold(pauses.pop())
        return False

    clock.wait = turn_away_another  # type: ignore[method-assign]
    first, second = start_times(pace, clock, [1, 1])
    assert first == pytest.approx(5.0)
    # Nothing was answered: one a second. Booked anew by the second limit, the first counts for it.
    assert second - first == pytest.approx(1.0)


def test_what_a_server_says_is_left_is_spread_over_the_time_until_it_is_whole_again() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    pace.note_room(RoomLeft("requests", 4, 8.0, 10))
    # The first at once; each of the others when its share of what time is left has passed.
    assert start_times(pace, clock, [1] * 4) == pytest.approx([0, 2.0, 4.0, 6.0])
    clock.now = 1000.0 + 7.9
    assert start_times(pace, clock, [1]) == pytest.approx([0.1])  # none is left until then


def test_tokens_that_are_left_are_shared_out_by_how_many_a_question_has() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    pace.note_room(RoomLeft("tokens", 1000, 10.0))
    first, second, third = start_times(pace, clock, [500, 100, 500])
    assert (first, second) == (0.0, pytest.approx(5.0))
    assert third == pytest.approx(10.0)  # 400 are too few for it


def test_news_replace_what_was_told_and_limits_of_a_day_are_not_spread() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    pace.note_room(RoomLeft("requests", 0, 60.0, 100))
    pace.note_room(RoomLeft("requests", 100, 0.1, 100))
    pace.note_room(RoomLeft("requests", 3, 86400.0, 1000))
    assert start_times(pace, clock, [1] * 5)[-1] < 0.1


def test_of_a_server_that_fills_up_steadily_all_is_taken_that_it_gives() -> None:
    clock = Clock()
    pace = Pace(clock=lambda: clock.now)
    level, limit, per_second = 60.0, 60.0, 1.0
    before, starts = clock.now, []
    for _ in range(300):
        assert pace.wait(1, clock)
        level = min(level + (clock.now - before) * per_second, limit) - 1
        before = clock.now
        assert level >= 0  # nothing is turned away
        starts.append(clock.now)
        pace.note_room(RoomLeft("requests", int(level), (limit - level) / per_second, limit))
    assert 200 / (starts[-1] - starts[99]) == pytest.approx(per_second, rel=0.05)
