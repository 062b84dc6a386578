"""The out-of-domain check: what it says of texts that are unlike the stories it was shown."""

from __future__ import annotations

import json
import random
import string

import pytest

from fabula.learned.reader.domain import describe_domain, describe_oddities

NAMES = "Ann Tom Mary Bill the boy the girl the baker her mother his father".split()
SENTENCES = (
    "{} went to the old house by the river and looked for the letter that had been lost.",
    "I was not sure what to say to {}, so I did not say a thing.",
    "It was late, and there was nobody in the street but {}.",
    '"Do you know what they have done with it?" said {} in a low voice.',
    "After that, all of us were afraid of {}, but we could not go back.",
    "The door was open, and {} came in with some bread and a lamp!",
    "When the rain stopped, {} had no more time for it, and neither had we.",
    "She would never have gone over the bridge with {} again.",
)
GERMAN = (
    "Am Abend saß der Müller vor dem Haus und zählte die Schwalben, die vom Fluss herüberkamen. "
    "Es waren weniger als im vorigen Jahr, und er fragte sich, wohin die übrigen geflogen waren. "
    "Sein Enkel meinte, sie hätten wohl ein besseres Dach gefunden, doch der Alte schüttelte den "
    "Kopf und schwieg, bis die Sterne kamen."
)
RUSSIAN = (
    "Вечером мельник сидел перед домом и считал ласточек, которые прилетали с реки. Их было "
    "меньше, чем в прошлом году, и он спрашивал себя, куда улетели остальные. Внук сказал, что "
    "они нашли крышу получше, но старик покачал головой и молчал, пока не взошли звёзды."
)
CODE = "for (i = 0; i < n; i++) { sum[i] += a[i] * b[i]; if (!sum[i]) { return -1; } }\n" * 6


def tale(seed: int) -> str:
    chance = random.Random(seed)
    count = chance.randint(8, 40)
    return " ".join(chance.choice(SENTENCES).format(chance.choice(NAMES)) for _ in range(count))


@pytest.fixture(scope="module")
def domain():
    return describe_domain([tale(seed) for seed in range(300)])


def test_a_description_is_plain_json(domain):
    assert json.loads(json.dumps(domain)) == domain
    assert domain["stories"] == 300


def test_hardly_a_story_of_the_same_kind_is_warned_about(domain):
    warned = [bool(describe_oddities(tale(seed), domain)) for seed in range(1000, 1300)]
    assert sum(warned) / len(warned) <= 0.05


def test_a_short_text_says_how_many_words_it_has_and_how_many_it_should_have(domain):
    low, _, high = domain["words"]
    [warning] = describe_oddities("It was late, and there was nobody.", domain)
    assert warning == f"7 words; the reader learned from stories of {low:.0f} to {high:.0f} words"
    assert describe_oddities("Once", domain)[0].startswith("1 word; ")


def test_a_text_without_words_is_told_that_alone(domain):
    for text in ("", " \n", "... !?", "😀 👍🏽"):
        [warning] = describe_oddities(text, domain)
        assert warning.startswith("no words; ")


def test_another_language_is_named_by_its_words_or_its_letters(domain):
    assert "of its words are common English words" in describe_oddities(GERMAN * 3, domain)[-1]
    assert describe_oddities(RUSSIAN * 3, domain)[-1].startswith(
        "100 % of its letters are not Latin"
    )
    assert describe_oddities("今日は雨だ。明天会下雨吗？" * 20, domain)[-1].startswith(
        "100 % of its letters"
    )


def test_a_few_words_that_happen_not_to_be_common_are_no_other_language(domain):
    assert len(describe_oddities("Dragons eat purple cheese nightly.", domain)) == 1


def test_code_and_numbers_are_no_prose(domain):
    assert "the reader knows" in describe_oddities(CODE, domain)[-1]
    numbers = " ".join(map(str, range(300)))
    [warning] = describe_oddities(numbers, domain)
    assert warning == "100 % of its words are numbers; the reader knows prose"


def test_an_odd_surface_is_described(domain):
    [warning] = describe_oddities("the man and the dog went on and on and on " * 20, domain)
    assert warning.startswith("its surface (")
    assert "few different words" in warning or "said again and again" in warning
    assert "unlike 99 % of the stories" in warning


def test_any_text_can_be_asked_about(domain):
    chance = random.Random(0)
    noise = "".join(chance.choices(string.printable, k=3000))
    poem = "The night came down\nupon the town,\nand all the lamps were lit.\n\n" * 6
    for text in (noise, poem, "\ud800 x", "x" * 100_000, "a\x00b " * 50, "word " * 100_000):
        for warning in describe_oddities(text, domain):
            assert warning


def test_few_stories_give_no_bounds_on_the_surface():
    domain = describe_domain([tale(seed) for seed in range(5)])
    assert domain["surface"] is None
    assert describe_oddities(tale(2), domain) == ()


def test_without_stories_nothing_is_known_and_nothing_is_said():
    assert describe_domain([]) == {}
    assert describe_oddities("Once upon a time.", {}) == ()
