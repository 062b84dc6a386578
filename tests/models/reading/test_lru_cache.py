"""The last answers in memory: asked once, the least lately used dropped first."""

from __future__ import annotations

from collections.abc import Callable

from fabula.models.reading.state_cache import LruCache, text_key


def answers(asked: list[list[str]], texts: list[str]) -> Callable[[list[int]], list[str]]:
    """What writes down what it was asked and answers in capitals."""

    def make(places: list[int]) -> list[str]:
        asked.append([texts[place] for place in places])
        return [texts[place].upper() for place in places]

    return make


def ask(cache: LruCache[str], asked: list[list[str]], *texts: str) -> list[str]:
    return cache.get([text_key(text) for text in texts], answers(asked, list(texts)))


def test_what_was_answered_is_not_asked_again_nor_the_same_text_twice() -> None:
    cache: LruCache[str] = LruCache(9)
    asked: list[list[str]] = []
    assert ask(cache, asked, "b", "a", "b") == ["B", "A", "B"]
    assert ask(cache, asked, "c", "b") == ["C", "B"]
    assert ask(cache, asked, "a") == ["A"]
    assert ask(cache, asked) == []
    assert asked == [["b", "a"], ["c"]]


def test_the_least_lately_used_is_dropped_first() -> None:
    cache: LruCache[str] = LruCache(2)
    asked: list[list[str]] = []
    for text in ("a", "b", "a", "c", "a", "b"):
        ask(cache, asked, text)
    assert asked == [["a"], ["b"], ["c"], ["b"]]
    assert len(cache) == 2


def test_more_than_are_kept_are_all_answered() -> None:
    cache: LruCache[str] = LruCache(2)
    assert ask(cache, [], *"abcdea") == list("ABCDEA")
    assert len(cache) == 2


def test_keys_tell_texts_and_pairs_apart_whatever_they_hold() -> None:
    keys = {text_key("ab", "c"), text_key("a", "bc"), text_key("abc"), text_key("\ud800")}
    assert len(keys) == 4
