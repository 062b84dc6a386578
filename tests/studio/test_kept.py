"""What was kept: the same values as the metrics, and those that they do not give."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics.rouge import Rouge
from fabula.metrics.user import User
from fabula.studio.authorship import Run
from fabula.studio.kept import KEPT, kept_metrics, score_suggestion, signature_of
from fabula.text.kept_words import match_sentences

GENERATED = "The grey ferry crossed at dawn. Nobody on the bank waved back. Mira counted oars."
PUBLISHED = "At dawn the grey ferry crossed. Mira counted oars and wept. Nobody on the quay spoke."


def values(scores):
    return {score.label: score.value for score in scores}


def same(left, right):
    return left == right or (math.isnan(left) and math.isnan(right))


_WORDS = "the a grey ferry dawn oars wept . ! 7 é".split()
_TEXTS = st.lists(st.sampled_from(_WORDS)).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(_TEXTS, _TEXTS)
def test_values_are_those_of_the_metrics_themselves(generated, published):
    metrics = [User(), *(Rouge(n=n, stem=False, stop_words="user") for n in (1, 2, 3, 4, "L", "W"))]
    story = [Story(id="s", text=generated, references=(published,))]
    expected = [score for metric in metrics for score in metric.score(story)]
    given_scores = score_suggestion(generated, published, story="s")
    by_metrics = [score for score in given_scores if score.scorer != KEPT]
    assert [(s.scorer, s.aspect, s.status, s.note) for s in by_metrics] == [
        (s.scorer, s.aspect, s.status, s.note) for s in expected
    ]
    assert all(same(a.value, b.value) for a, b in zip(by_metrics, expected, strict=True))


@pytest.mark.parametrize("which", ["Y1", "Y2"])
def test_lins_example_with_the_platforms_stop_words(shared, which):
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    case = golden["storium"]["user_derived"]
    words = str(shared / "reference" / "user_stopwords.txt")
    scores = score_suggestion(case["X"], case[which], stop_words=words)
    expected = case[f"{which}_result"]
    found = {score.aspect: score.value for score in scores if score.scorer.startswith("user")}
    assert found == pytest.approx(
        {"precision": expected["p"], "recall": expected["r"], "f": expected["f"]}
    )


def test_rouge_leaves_stop_words_out_and_stems_nothing():
    # Left of the suggestion: grey ferries (2 words); of the entry: grey ferry slept.
    found = values(score_suggestion("The grey ferries", "A grey ferry slept"))
    one = "rouge(n=1, stem=False, stop_words='user')"
    assert found[f"{one}.precision"] == 1 / 2
    assert found[f"{one}.recall"] == 1 / 3
    assert found[f"{one}.f"] == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))


def test_kept_blocks_and_marks_are_told():
    marks = (
        Run(9, "person"),
        Run(20, "machine", "s"),
        Run(5, "edited", "s"),
        Run(3, "machine", "t"),
    )
    found = values(score_suggestion(GENERATED, PUBLISHED, story="s", marks=marks))
    # Longest first: "the grey ferry crossed" (4); before it nothing of "at dawn" is left, and
    # after it "nobody on the" (3).
    assert (found["kept.spans"], found["kept.longest"]) == (2, 4)
    assert found["kept.marked"] == 20 / len(GENERATED)
    assert found["kept.edited"] == 5
    assert "kept.marked" not in values(score_suggestion(GENERATED, PUBLISHED))


def test_each_published_sentence_comes_from_one_of_the_suggestion_or_from_none():
    assert match_sentences(GENERATED, PUBLISHED) == [0, 2, 1]
    assert match_sentences(GENERATED, "Nobody on boats. All new words here.") == [None, None]
    # With overlap the first would share two groups (a b c, b c d) as well, and be taken.
    assert match_sentences("A b c d. D e f a b c.", "A b c d e f.") == [1]
    # Of two that share as many the first is taken.
    assert match_sentences("Z y x w. A b c.", "A b c d z y x.") == [0]
    found = values(score_suggestion(GENERATED, PUBLISHED))
    assert [found[f"kept.sentence:{place}"] for place in range(3)] == [1, 1, 1]


def test_nothing_kept_is_zero_and_no_text_is_missing():
    found = values(score_suggestion("grey ferry", "blue mountain"))
    assert found["user.precision"] == found["kept.spans"] == found["kept.longest"] == 0
    for generated, published, status in (
        ("", "blue", Status.EMPTY_TEXT),
        ("grey", "", Status.MISSING_REFERENCE),
        ("grey", "!", Status.UNDEFINED),
    ):
        scores = score_suggestion(generated, published, marks=())
        assert {s.status for s in scores if s.scorer == "user"} == {status}
        assert all(math.isnan(s.value) for s in scores if s.aspect in ("precision", "spans"))


def test_a_suggestion_taken_over_twice_is_kept_once():
    marks = (Run(5, "machine", "s"), Run(5, "machine", "s", 1))
    assert (
        values(score_suggestion("grey.", "grey.grey.", story="s", marks=marks))["kept.marked"]
        == 1.0
    )


def test_every_scorer_has_a_signature():
    user, rouges = kept_metrics()
    assert signature_of(user.spec) == user.signature()
    assert "stem:no" in signature_of(rouges[-1].spec)
    assert signature_of(KEPT).startswith("kept|")
