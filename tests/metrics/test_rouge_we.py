from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics import _soft_grams
from fabula.metrics.rouge_we import RougeWe
from fabula.models import load_model
from fakes.factories import VOCABULARY, make_story, usual_text, values_of

# Cosines: sea–ocean 24/25, ship–boat 4/5; all others of words that differ are at most .6.
WORDS = "sea 1 0 0\nocean 0.96 0.28 0\nship 0 0 1\nboat 0 0.6 0.8\nold -1 0 0\n"


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text(WORDS, encoding="utf-8")
    return f"word_vectors({str(path)!r})"


def by_the_letter(text, reference, n, *, vectors, threshold):
    """Hits as the specification words them: gram by gram, in plain loops."""
    rows = {}

    def row(word):
        if word not in rows:
            rows[word] = vectors.rows([word])[0]
        return rows[word]

    def grams(side):
        found = re.findall(r"\w+", side.lower())
        return Counter(zip(*(found[start:] for start in range(n)), strict=False))

    def cosine(left, right):
        a, b = (sum(map(row, gram)) for gram in (left, right))
        return a @ b / np.sqrt((a @ a) * (b @ b))

    def known(gram):
        return not any(np.isnan(row(word)).any() for word in gram)

    hits, left = 0, grams(reference)
    for gram, count in grams(text).items():
        best = gram if gram in left else None
        if best is None and known(gram):
            near = [other for other in left if known(other)]
            best = max(near, key=lambda other: cosine(gram, other), default=None)
            if best is not None and cosine(gram, best) < threshold:
                best = None
        if best is not None:
            taken = min(count, left[best])
            hits, left[best] = hits + taken, left[best] - taken
            if not left[best]:
                del left[best]
    return hits, sum(grams(reference).values()), sum(grams(text).values())


def test_near_words_hit_and_far_ones_do_not(words):
    # "ocean" takes "sea"; "boat" (.8) finds nothing near enough; "ship" its like.
    found = values_of(RougeWe(words, n=1), "Ocean, boat ship.", "The sea. A ship!")
    # 2 of 4 words of the reference, 2 of 3 of the story; f = 2 · 1/2 · 2/3 / (7/6) = 4/7.
    assert found == pytest.approx((2 / 4, 2 / 3, 4 / 7))
    loose = values_of(RougeWe(words, n=1, threshold=0.8), "Ocean, boat", "The sea. A ship!")
    assert loose == pytest.approx((2 / 4, 2 / 2, 2 / 3))


def test_what_was_taken_is_gone_so_that_the_order_counts(words):
    metric = RougeWe(words, n=1)
    # The ocean takes the only sea, and the sea finds none; in the other order it is the same
    # number of hits, but "ocean sea" against "sea ocean" hits twice.
    assert values_of(metric, "ocean sea", "sea")[0] == 1.0
    assert values_of(metric, "ocean sea", "sea")[1] == 0.5
    assert values_of(metric, "ocean sea", "sea ocean") == (1.0, 1.0, 1.0)


def test_counts_are_clipped_and_an_n_gram_takes_from_one_other_alone(words):
    # Three oceans, two seas: two hits, and the third ocean does not go on to the other word.
    metric = RougeWe(words, n=1, threshold=0.2)
    assert values_of(metric, "ocean ocean ocean", "sea sea boat")[:2] == (2 / 3, 2 / 3)


def test_an_unknown_word_hits_only_its_like(words):
    metric = RougeWe(words, n=2, threshold=0.0)
    assert values_of(metric, "sea dragon", "sea dragon") == (1.0, 1.0, 1.0)
    assert values_of(metric, "sea dragon", "ocean dragon") == (0.0, 0.0, 0.0)


def test_vectors_that_cancel_out_have_no_direction(words):
    # sea + old = 0: nothing is near it, but its like is.
    metric = RougeWe(words, n=2, threshold=0.0)
    assert values_of(metric, "sea old", "old sea") == (0.0, 0.0, 0.0)
    assert values_of(metric, "sea old", "sea old") == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("threshold", [0.3, 0.8, 0.95])
def test_it_equals_the_plain_loops_of_the_specification(n, threshold, monkeypatch):
    chance = random.Random(n)
    pool = [*VOCABULARY[:40], "1984", "7"]
    for size in (5, 60, 90):
        text, reference = (" ".join(chance.choices(pool, k=size)) for _ in range(2))
        expected = by_the_letter(
            text, reference, n, vectors=load_model("fake()"), threshold=threshold
        )
        lexis = _soft_grams.Lexis.of([text, reference], load_model("fake()"))
        for block in (2_000_000, 100):
            monkeypatch.setattr(_soft_grams, "_BLOCK_PAIRS", block)
            found = _soft_grams.soft_hits(text, reference, n, lexis=lexis, threshold=threshold)
            assert tuple(found) == expected


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_text_beside_itself_has_1(n):
    text = usual_text(3_000, seed=4)
    assert values_of(RougeWe("fake()", n=n), text, text) == (1.0, 1.0, 1.0)


def test_of_several_references_the_one_with_the_best_f_counts(words):
    metric = RougeWe(words, n=1)
    best = values_of(metric, "ocean ship", "sea ship")
    assert values_of(metric, "ocean ship", "old", " ", "sea ship") == best == (1.0, 1.0, 1.0)


def test_compat_adds_references_up_and_gives_0_for_one_that_is_too_short(words):
    metric = RougeWe(words, n=1, compat=True)
    # One hit in "old", two in "sea ship": 3 of 1 + 2 in the references, 3 of 2 · 3 in the story.
    found = values_of(metric, "ocean ship old", "old", "sea ship")
    assert found == pytest.approx((1.0, 0.5, 2 / 3))
    assert values_of(RougeWe(words, compat=True), "ocean ship old", "sea ship") == (0.0,) * 3


def test_a_short_reference_is_undefined_and_a_short_story_has_no_precision(words):
    [score, *_] = RougeWe(words).score([make_story("sea ship old", "sea ship")])
    assert score.status is Status.UNDEFINED
    assert score.note == "the reference is too short for n-grams of 3"
    recall, precision, f = RougeWe(words).score([make_story("sea ship", "sea ship old")])
    assert (recall.value, f.value, precision.status) == (0.0, 0.0, Status.UNDEFINED)
    assert precision.note == "the story is too short for n-grams of 3: no precision"


def test_pairs_over_the_limit_are_too_long(monkeypatch):
    monkeypatch.setattr(_soft_grams, "MOST_PAIRS", 5)
    [score, *_] = RougeWe("fake()", n=1).score([make_story("one two three", "four five")])
    assert score.status is Status.TOO_LONG
    assert score.note == "3 × 2 different n-grams: over the limit of 5 pairs"


@pytest.mark.parametrize("settings", [{"n": 4}, {"n": "L"}, {"threshold": 1.5}], ids=str)
def test_settings_that_will_not_do_are_refused(settings):
    with pytest.raises(SettingError, match="rouge_we: "):
        RougeWe(**settings)


def test_a_model_without_word_vectors_is_refused(monkeypatch):
    class Nothing:
        signature = "nothing"

    monkeypatch.setattr("fabula.metrics.model_metric.load_model", lambda spec: Nothing())
    with pytest.raises(SettingError, match="no set of word vectors"):
        RougeWe("fake()").score([make_story("a", "a")])


def test_an_absent_file_is_said_of_every_story(tmp_path):
    metric = RougeWe(f"word_vectors({str(tmp_path / 'none')!r})")
    [score, *_] = metric.score([make_story("a", "a")])
    assert score.status is Status.MISSING_MODEL
    assert "cannot be read" in score.note


def test_summeval_s_printed_values_are_whole_hits_over_our_counts(summeval):
    # What SummEval's test prints is recall: 22 of 100 words, 9 of 99 pairs. Its vectors are not at
    # hand; hits of n-grams that are the same (threshold 1) must be fewer.
    golden = summeval["rouge_we"]
    lexis = _soft_grams.Lexis.of([golden["cand"], *golden["ref"]], load_model("fake()"))
    for n, printed, count in ((1, golden["n1_f"], 100), (2, golden["n2_f"], 99)):
        hits = _soft_grams.soft_hits(
            golden["cand"], golden["ref"][0], n, lexis=lexis, threshold=1.0
        )
        assert hits.reference == count
        assert printed * count == pytest.approx(round(printed * count))
        assert hits.hits < round(printed * count)
