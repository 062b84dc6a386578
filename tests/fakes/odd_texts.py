"""Texts that no author writes and every program meets, drawn from a seeded generator."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

from fabula.core.story import Story
from fakes.factories import usual_text

ALPHABETS = {
    "latin": "abc ABC xyz. , é ß ñ ﬁ İ ı",
    "numbers": "0123456789 .,-+ ½ ² ٣ 七 Ⅷ ∞ 1e308 NaN",
    "cjk": "今日は雨だ明天会下カメラ。？！「」漢字",
    "right to left": "שלום עולם مرحبا بالعالم ؟ \u0640",
    "thai and indic": "สวัสดีชาวโลก नमस्ते दुनिया \u0d4d",
    "emoji": "😀👩\u200d👧🇫🇷👍🏽🦊🚀 \ufe0f",
    "marks": ".,;:!?…—–-'\"“”«»()[]{}<>/\\|@#%&*~^`$€",
    "combining": "ae\u0301\u0308\u0351\u036b\u030a\u20dd o",
    "zero width": "\u200b\u200c\u200d\u2060\ufeff\u00ad a",
    "controls": "\x00\x01\x07\x08\x0b\x0c\x1b[31m\x7f\x85\u2028\u2029 a",
    "bidi": "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2069 abc",
    "surrogates": "\ud800\udfff\udc80 a",
    "private": "\ue000\ue001\uf8ff \U000f0000 a",
    "blanks": " \t\n\r\u00a0\u3000\u2003\v",
    "markup": "<p></p>&amp;<unk>[UNK][SEP]<|endoftext|>##a ▁ </s>",
}
WORDS = 'the king saw a dragon and the old sea slept . Anna went home , " yes " she said !'.split()


def odd_text(draw: random.Random, longest: int = 400) -> str:
    """Draw a text of one of many kinds; most are short, a few of some thousand characters."""
    if draw.random() < 0.02:
        longest *= 10
    return draw.choice(_KINDS)(draw, draw.randint(0, longest))


def odd_story(draw: random.Random, number: int, longest: int = 400) -> Story:
    """Draw a story whose text, prompt and references may be odd, alike, empty or absent."""
    text = odd_text(draw, longest)
    others = [text, odd_text(draw, longest), usual_text(longest // 2, draw.randrange(9)), "", " \n"]
    references = tuple(draw.choice(others) for _ in range(draw.randint(0, 3)))
    prompt = draw.choice([None, "", text, odd_text(draw, 80), "A dragon wakes."])
    return Story(f"{number}", text, prompt, references, (), draw.choice("ab"), f"{number // 2}")


def _of_one_alphabet(draw: random.Random, size: int) -> str:
    return "".join(draw.choices(ALPHABETS[draw.choice(list(ALPHABETS))], k=size))


def _of_all_alphabets(draw: random.Random, size: int) -> str:
    return "".join(draw.choices("".join(ALPHABETS.values()), k=size))


def _of_any_characters(draw: random.Random, size: int) -> str:
    return "".join(chr(draw.randint(0, sys.maxunicode)) for _ in range(size // 4))


def _of_words(draw: random.Random, size: int) -> str:
    return " ".join(draw.choices(WORDS, k=size // 5))


def _of_one_thing(draw: random.Random, size: int) -> str:
    """One character, word or sentence, over and over."""
    whole = "".join(ALPHABETS.values())
    thing = draw.choice([draw.choice(whole), draw.choice(WORDS) + " ", "The king slept. "])
    return thing * max(1, size // len(thing))


def _of_long_words(draw: random.Random, size: int) -> str:
    return " ".join(
        "".join(draw.choices("abcdé漢1", k=draw.randint(1, size + 1))) for _ in range(3)
    )


def _spoiled(draw: random.Random, size: int) -> str:
    """A usual text with something odd put in."""
    text = usual_text(size + 20, draw.randrange(20))
    at = draw.randrange(len(text))
    return text[:at] + _of_all_alphabets(draw, draw.randint(1, 8)) + text[at:]


def _tiny(draw: random.Random, size: int) -> str:
    del size
    return "".join(draw.choices("".join(ALPHABETS.values()), k=draw.randint(0, 3)))


_KINDS: list[Callable[[random.Random, int], str]] = [
    _of_one_alphabet,
    _of_one_alphabet,
    _of_all_alphabets,
    _of_any_characters,
    _of_words,
    _of_one_thing,
    _of_long_words,
    _spoiled,
    _tiny,
]
