from __future__ import annotations

import math
import random
import re
from collections import Counter

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics import cider
from fabula.metrics.cider import Cider
from fabula.scoring.evaluate import evaluate
from fakes.factories import make_story, usual_text


def grams(text, n, *, compat):
    """n-grams of words with their counts; on these texts \\w+ finds the words of both rules."""
    words = re.findall(r"\w+", text if compat else text.lower())
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def direct(stories, *, compat=True):
    """CIDEr-D of coco-caption, with dictionaries: Vedantam et al. (2015), section 3 and 7."""
    documents = Counter()
    for story in stories:
        documents.update(
            {
                gram
                for one in story.references
                for n in (1, 2, 3, 4)
                for gram in grams(one, n, compat=compat)
            }
        )

    def weights(text, n):
        return {
            gram: count * (math.log(len(stories)) - math.log(max(1, documents[gram])))
            for gram, count in grams(text, n, compat=compat).items()
        }

    def similarity(text, reference):
        total = 0.0
        for n in (1, 2, 3, 4):
            h, r = weights(text, n), weights(reference, n)
            norms = math.sqrt(sum(v * v for v in h.values()) * sum(v * v for v in r.values()))
            product = sum(min(value, r[gram]) * r[gram] for gram, value in h.items() if gram in r)
            total += product / norms if norms else 0.0
        apart = grams(text, 2, compat=compat).total() - grams(reference, 2, compat=compat).total()
        return 10 * total / 4 * math.exp(-(apart**2) / (2 * 6**2))

    return [
        sum(similarity(story.text, one) for one in story.references) / len(story.references)
        for story in stories
    ]


def made(count, *, system="a", references=1, seed=0):
    """Stories of usual words, each a changed copy of its first reference."""
    rng = random.Random(seed)
    stories = []
    for number in range(count):
        others = tuple(usual_text(150, rng.randrange(10**6)) for _ in range(references))
        kept = [word for word in others[0].split() if rng.random() < 0.9]
        text = " ".join([*kept, *usual_text(20, rng.randrange(10**6)).split()])
        stories.append(Story(f"{system}{number}", text, references=others, system=system))
    return stories


def values(metric, stories):
    return [score.value for score in metric.score(stories)]


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("references", [1, 3])
def test_values_are_those_of_the_rule_written_out(compat, references):
    stories = made(12, references=references)
    found = values(Cider(compat=compat), stories)
    assert found == pytest.approx(direct(stories, compat=compat), rel=1e-10)
    assert max(found) > 1.0


def test_the_value_printed_by_summeval(summeval):
    pairs = zip(summeval["CANDS"], summeval["REFS"], strict=True)
    stories = [Story(f"{n}", text, references=(one,)) for n, (text, one) in enumerate(pairs)]
    # Without a tokeniser the tool takes what blanks part, case kept, for words.
    found = values(Cider(tokenized=True), stories)
    expected = summeval["cider_corpus(tokenize=False)"]
    assert sum(found) / 3 == pytest.approx(expected, rel=1e-12)


def test_an_example_by_hand():
    # Two documents, so a word of one weighs log 2 and a word of both nothing. "b" is one of the
    # two rare words of the reference "a b c": 1 / √2 … for n = 1, of h = (b), r = (b, c); no pair
    # of "a b" but a-b, which is one of two; 0 for n = 3 and 4. Lengths: 1 pair and 2 pairs.
    stories = [
        Story("1", "a b", references=("a b c",)),
        Story("2", "x", references=("a d e f",)),
    ]
    expected = 10 * (1 / math.sqrt(2) + 1 / math.sqrt(2)) / 4 * math.exp(-1 / 72)
    assert values(Cider(), stories) == pytest.approx([expected, 0.0], rel=1e-12)


def test_texts_that_are_their_references_have_ten():
    stories = [Story(s.id, s.references[0], references=s.references, system="a") for s in made(5)]
    assert values(Cider(), stories) == pytest.approx([10.0] * 5, rel=1e-12)


def test_a_difference_in_length_costs_by_the_gaussian():
    # The same rare words, 12 pairs more: exp(−144 / 72) for what is left of the cosine.
    stories = [
        Story("1", "b c d e", references=("b c d e",)),
        Story("2", "q", references=("x y",)),
    ]
    long = [Story("1", "b c d e" + " x" * 12, references=("b c d e",)), stories[1]]
    [ten, _], [less, _] = values(Cider(), stories), values(Cider(), long)
    assert ten == pytest.approx(10)
    assert less == pytest.approx(direct(long)[0], rel=1e-12)
    assert less < 10 * math.exp(-2)


def test_case_counts_under_compat_only():
    stories = [
        Story("1", "The Dragon Slept Well", references=("the dragon slept well",)),
        Story("2", "no", references=("another story here",)),
    ]
    assert values(Cider(compat=True), stories)[0] == 0.0
    assert values(Cider(), stories)[0] == pytest.approx(10.0)


def test_a_batch_is_a_system():
    ours, theirs = made(6, system="a", seed=1), made(9, system="b", seed=2)
    mixed = [story for pair in zip(ours, theirs, strict=False) for story in pair] + theirs[6:]
    found = dict(zip([s.id for s in mixed], values(Cider(), mixed), strict=True))
    assert [found[s.id] for s in ours] == pytest.approx(direct(ours, compat=False), rel=1e-10)
    assert [found[s.id] for s in theirs] == pytest.approx(direct(theirs, compat=False), rel=1e-10)


def test_a_batch_of_one_is_undefined_not_zero():
    [score] = Cider().score(made(1))
    assert score.status is Status.UNDEFINED
    assert "batch of one" in score.note


def test_stories_that_cannot_be_read_are_not_in_the_batch():
    stories = made(4)
    unread = [Story("empty", " ", references=("one two",)), Story("alone", "text")]
    unread = [Story(s.id, s.text, references=s.references, system="a") for s in unread]
    found = values(Cider(), [*stories, *unread])
    assert found[:4] == values(Cider(), stories)
    assert all(map(math.isnan, found[4:]))


def test_blank_references_do_not_count():
    stories = made(4)
    more = [Story(s.id, s.text, references=(" ", *s.references, ""), system="a") for s in stories]
    assert values(Cider(), more) == values(Cider(), stories)


def test_chunks_of_the_engine_give_the_same(monkeypatch):
    # A heap of 100 kinds: counts are sorted in many times, as with a million stories.
    stories = made(70)
    expected = direct(stories, compat=False)
    monkeypatch.setattr(cider, "_HEAP", 100)
    found = [score.value for score in evaluate(stories, "cider")]
    assert found == pytest.approx(expected, rel=1e-10)
    assert found == values(Cider(), stories)


def test_a_copy_of_a_reference_without_a_rare_n_gram_is_undefined_and_not_0():
    text = "the king saw the sea"
    alike = [make_story(text, text, id=f"{number}") for number in range(3)]
    for score in Cider().score(alike):
        assert score.status is Status.UNDEFINED
        assert score.note == "no n-gram of the reference is rare: all are in those of every story"


def test_references_without_a_rare_n_gram_are_left_out_of_the_mean():
    common, rare = "the king saw", "the king saw a fox by the sea"
    stories = [
        make_story(rare, common, rare, id="a"),
        make_story(rare, common, id="b"),
        make_story("owls", common, "owls in the barn", id="c"),
    ]
    copy, none, _ = Cider().score(stories)
    assert copy.value == pytest.approx(10.0)
    assert none.status is Status.UNDEFINED


def test_captions_are_cut_as_in_the_captioning_toolkit():
    texts = ["The man didn't stop!", "A dog barks."]
    parted = ["the man did n't stop", "a dog barks"]
    stories = [make_story(text, other) for text, other in zip(texts, texts[::-1], strict=True)]
    same = [make_story(text, other) for text, other in zip(parted, parted[::-1], strict=True)]
    stories += [make_story("He didn't stop", "The man didn't stop")]
    same += [make_story("he did n't stop", "the man did n't stop")]
    expected = [score.value for score in Cider(tokenized=True).score(same)]
    assert expected[-1] > 0
    found = Cider(tokenize="captions").score(stories)
    assert [score.value for score in found] == pytest.approx(expected)
    with pytest.raises(SettingError, match="both say what a word is"):
        Cider(tokenized=True, tokenize="captions")
