from __future__ import annotations

import random
import sys

import pytest

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.learned.topics.comment_topics import find_topics

THEMES = (
    "opening begins hook paragraph introduces start setup draws intrigue title",
    "ending twist finale concludes resolution abrupt closure surprise reveal final",
    "hero villain personality motives dialogue voice growth believable flaws backstory",
    "funny laugh jokes humour comedy hilarious witty grin silly punchline",
)


def planted(each: int = 20, seed: int = 3) -> list[str]:
    """Comments that each speak of one theme, in stop words and ten words of it."""
    draw = random.Random(seed)
    return [
        "The " + " and the ".join(draw.choices(theme.split(), k=10)) + "."
        for _ in range(each)
        for theme in THEMES
    ]


def test_planted_themes_are_found_with_their_words_and_shares():
    found = find_topics(planted(), counts=(2, 4), seed=1)
    assert found.count == 4
    assert {frozenset(words) for words in found.words} == {
        frozenset(theme.split()) for theme in THEMES
    }
    assert sum(found.shares) == pytest.approx(1)
    assert found.shares == tuple(sorted(found.shares, reverse=True))
    assert found.scores[4] == 1 > found.scores[2]
    assert found.left_out == 0


def test_planted_themes_lie_above_chance_and_noise_does_not():
    assert find_topics(planted(), counts=(4,)).chance < 0.6
    draw = random.Random(5)
    pool = " ".join(THEMES).split()
    noise = find_topics([" ".join(draw.choices(pool, k=8)) for _ in range(60)], counts=(4,))
    assert abs(noise.scores[4] - noise.chance) < 0.2


def test_the_same_seed_gives_the_same_topics():
    comments = planted(6)
    assert find_topics(comments, counts=(3,), seed=2) == find_topics(comments, counts=(3,), seed=2)


def test_stop_words_of_ones_own_and_words_of_most_comments_make_no_topic():
    comments = [f"{text} Story story, I'm 42 x" for text in planted()]
    found = find_topics(comments, counts=(4,), stop_words=("the", "and", "hook"))
    named = {word for topic in found.words for word in topic}
    assert not named & {"hook", "the", "and", "story", "i'm", "42", "x"}
    assert "opening" in named


def test_comments_without_words_are_counted_as_left_out():
    found = find_topics([*planted(), "", "12 !!", "Zyzzyva."], counts=(4,))
    assert found.left_out == 3


@pytest.mark.parametrize("comments", [[], ["Nice."] * 2, planted(2), ["", "the"] * 50], ids=len)
def test_too_few_comments_are_refused(comments):
    with pytest.raises(InputError, match="are too few for 15 topics; give at least 30 comments"):
        find_topics(comments)


@pytest.mark.parametrize("settings", [{"counts": ()}, {"counts": (1, 5)}, {"runs": 1}], ids=str)
def test_settings_with_nothing_to_compare_are_refused(settings):
    with pytest.raises(SettingError, match="nothing to compare"):
        find_topics(planted(), **settings)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(PackageMissing, match=r"pip install .*\[train\]"):
        find_topics(planted())
