"""The out-of-domain check: what it says of texts that are unlike the stories it was shown."""

from __future__ import annotations

import json
import random
import string

import pytest

from fabula.datasets import load_dataset
from fabula.learned.reader.domain import (
    describe_domain,
    describe_oddities,
    describe_other_writing,
)
from fakes.review import TEXT

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


POEM = "The night came down\nupon the town,\nand all the lamps were lit.\n\n" * 3
CONTRACT = (
    "The Licensee shall not copy, modify or distribute the Software. This Agreement shall continue "
    "in force for a period of twelve months unless terminated in accordance with the terms of this "
    "clause. In no event shall the Licensor be liable for any damages arising out of or in "
    "connection with this Agreement. The Agreement is governed by the laws of the country of the "
    "Licensor, and any dispute shall be brought before the courts of that country."
)


ADVERT = (
    "Our platform helps busy teams to see every project in one place. Connect your tools in "
    "minutes and never miss a date again. Start your free trial today and join thousands of happy "
    "customers; no card is needed."
)
# Somebody acts here: a customer, who is quoted.
QUOTING_ADVERT = (
    "Sleep as you did when you were small. Each pillow of the collection is filled by hand and has "
    "a warranty of ten years. “I ordered one for my mother and kept it,” says Ines, a customer "
    "since spring. Order today for a discount of a third; delivery is free, and the offer is "
    "available while the store has any."
)
# Somebody sells here, in a story.
MARKET = (
    "He had the last stall of the market and sold nothing. At noon he cut his price, at three he "
    "cut it again, and at five a woman asked what he would take for the whole store. He told her "
    "that his father had never made a sale in the rain either, and gave her the scales for free. "
    "She carried them home under her coat, and he ran after her with the brass weights."
)
LOG = "\n".join(f"[19:0{minute}] mara: is the boat still going out" for minute in range(6))
CHAT = "mara: is it on tonight\ntom: no idea\nmara: ask jo then\ntom: jo is asleep, you do it\n"
PLAY = (
    "Mara: I have counted the steps twice now, and there is one more than there was yesterday.\n"
    "Tom: Then count them again, and this time leave out the one that you are standing on.\n"
) * 3


def shuffle_words(text: str, seed: int) -> str:
    words = text.split()
    random.Random(seed).shuffle(words)
    return " ".join(words)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GERMAN, "of its words are common English words"),
        (RUSSIAN, "100 % of its letters are not Latin"),
        (CODE, "signs a word that prose hardly has"),
        (" ".join(map(str, range(300))), "100 % of its words are numbers"),
        ("\n".join(f"- {name} and bread" for name in NAMES), "of its lines are items of a list"),
        (POEM, "set in short lines"),
        (CONTRACT, "it has no word for a person"),
        (ADVERT, "it reads as an advert (“free”, “trial”, “today”, “join”)"),
        (QUOTING_ADVERT, "it reads as an advert (“collection”, “warranty”, “customer”, “order”)"),
        (LOG, "it is a log: 100 % of its lines begin with a time"),
        (CHAT, "it is a chat: 100 % of its lines begin with who speaks"),
        ("Dragons eat purple cheese.", "it is 4 words long"),
        ("... !?", "it has no words"),
        (shuffle_words(TEXT, 1), "as if in a chance order"),
    ],
)
def test_what_is_hardly_a_story_is_told_by_why(text, why):
    assert why in describe_other_writing(text)


def test_stories_are_not_called_other_writing():
    assert describe_other_writing(TEXT) == ""
    assert not any(describe_other_writing(one.text) for one in load_dataset("examples").stories)
    assert describe_other_writing(PLAY) == ""
    assert describe_other_writing(MARKET) == ""
    shopping = "She went to the shop to buy a discount pen. The price was free today, he said."
    assert describe_other_writing(shopping) == ""


def test_hardly_a_story_that_people_rated_is_called_other_writing(shared):
    texts = [one.text for one in load_dataset("hanna", shared / "data" / "hanna").stories]
    called = sum(bool(describe_other_writing(text)) for text in texts)
    # Machines write words in a chance order now and then: ten of 1,056.
    assert called / len(texts) <= 0.01
    salads = [shuffle_words(text, 2) for text in texts[:200] if len(text.split()) > 100]
    found = sum(bool(describe_other_writing(text)) for text in salads)
    assert found / len(salads) >= 0.85


def test_any_text_can_be_told_from_a_story():
    chance = random.Random(0)
    noise = "".join(chance.choices(string.printable, k=3000))
    for text in (noise, "\ud800 x", "x" * 100_000, "a\x00b " * 50, "word " * 100_000):
        assert describe_other_writing(text)
