from __future__ import annotations

import difflib
import json

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics._words import stop_words
from fabula.metrics.user import User
from fabula.text.diff import Block
from fakes.factories import make_story, usual_text, values_of

# Lin's example (2004): of X, Y1 keeps a run of four words, Y2 the four words apart.
X, Y1, Y2 = "A B C D E F G", "A B C D H I K", "A H B K C I D"


def direct(text, published, stop, *, autojunk):
    """Recall, f and precision from CPython's difflib."""
    words, others = (
        text.lower().replace(".", " ").split(),
        published.lower().replace(".", " ").split(),
    )
    blocks = difflib.SequenceMatcher(None, words, others, autojunk).get_matching_blocks()
    kept = sum(b.size for b in blocks if set(words[b.a : b.a + b.size]) - stop)
    recall, precision = kept / len(others), kept / len(words)
    return recall, 2 * precision * recall / (precision + recall), precision


@pytest.mark.parametrize("compat", [False, True])
@pytest.mark.parametrize("which", ["Y1", "Y2"])
def test_lins_example_with_the_platforms_stop_words(shared, compat, which):
    golden = json.loads((shared / "reference" / "golden.json").read_text(encoding="utf-8"))
    case = golden["storium"]["user_derived"]
    metric = User(stop_words=str(shared / "reference" / "user_stopwords.txt"), compat=compat)
    expected = [case[f"{which}_result"][key] for key in ("r", "f", "p")]
    assert values_of(metric, case["X"], case[which]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("stop", "published", "kept"),
    [
        ("a\nd\n", Y1, 4),  # the block holds b and c too
        ("a\nd\n", Y2, 2),  # a and d alone are stop words
        ("x\n", Y2, 4),
        ("a\nb\nc\nd\n", Y1, 0),
    ],
)
def test_a_block_of_stop_words_alone_does_not_count(tmp_path, stop, published, kept):
    path = tmp_path / "stop.txt"
    path.write_text(stop, encoding="utf-8")
    shares = (kept / 7,) * 3
    assert values_of(User(stop_words=str(path)), X, published) == pytest.approx(shares)


def test_our_own_list_holds_words_that_say_nothing_when_kept():
    assert {"the", "a", "of", "eyes", "time"} <= stop_words("user")
    assert values_of(User(), "the of", "of the") == (0.0, 0.0, 0.0)
    assert values_of(User(stop_words=""), "the of", "of the") == (0.5, 0.5, 0.5)


def test_precision_is_over_the_suggestion_and_recall_over_what_was_published():
    # Kept: dragon slept. 2 of 3 words of the suggestion, 2 of 4 of the text; f = 2 · 2 / (3 + 4).
    values = values_of(User(), "Dragon slept deeply.", "Old dragon slept well!")
    assert values == pytest.approx((2 / 4, 4 / 7, 2 / 3))


def test_precision_is_the_last_aspect_for_it_is_user():
    assert User.card.aspects == ("recall", "f", "precision")


def test_of_several_references_the_one_with_the_best_precision_counts():
    text = "dragon slept deeply below"
    # Beside the first recall is 1 and precision 1/4, beside the second 3/6 and 3/4.
    long = "dragon slept deeply under green hills"
    assert values_of(User(), text, "dragon", " ", long) == values_of(User(), text, long)
    assert values_of(User(), text, long) == pytest.approx((3 / 6, 6 / 10, 3 / 4))


def test_nothing_kept_is_zero_and_the_whole_is_one():
    assert values_of(User(), "dragon slept", "a fox") == (0.0, 0.0, 0.0)
    assert values_of(User(), "dragon slept", "Dragon: slept!") == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_long_texts_are_scored_as_difflib_blocks_them_with_and_without_its_junk(seed):
    text, published = usual_text(900, seed), usual_text(1_000, seed) + usual_text(900, seed + 50)
    stop = stop_words("user")
    on, off = (direct(text, published, stop, autojunk=junk) for junk in (True, False))
    assert values_of(User(), text, published) == pytest.approx(off, rel=1e-12)
    assert values_of(User(autojunk=True), text, published) == pytest.approx(on, rel=1e-12)
    assert values_of(User(compat=True), text, published) == pytest.approx(on, rel=1e-12)


def test_junk_changes_the_value_of_a_long_text():
    # "dragon" comes 4 times in 200 words, over 200 // 100 + 1, so that it begins no block.
    words = [f"w{number}" for number in range(200)]
    words[50] = words[100] = words[150] = words[160] = "dragon"
    published = " ".join(words)
    assert values_of(User(), "fine dragon", published)[-1] == 0.5
    assert values_of(User(autojunk=True), "fine dragon", published)[-1] == 0.0
    assert values_of(User(autojunk=True), "fine dragon", published[:300])[-1] == 0.5


def test_the_blocks_that_count_can_be_shown():
    metric = User()
    words = metric.words("The old dragon slept; the end.")
    published = metric.words("An old dragon woke. The end of the story.")
    # old dragon, and the end; "the" and "of" alone would not count.
    assert metric.kept_blocks(words, published) == [Block(1, 1, 2), Block(4, 4, 2)]
    assert words[1:3] == ["old", "dragon"]


def test_words_of_other_scripts_count_but_not_under_compat():
    assert values_of(User(), "Привет мир", "привет дом")[-1] == 0.5
    [*_, score] = User(compat=True).score([make_story("Привет мир", "привет дом")])
    assert score.status is Status.UNDEFINED


@pytest.mark.parametrize(
    ("text", "reference", "which"), [("!", "a", "text"), ("a", "!", "reference")]
)
def test_no_words_on_one_side_is_undefined_not_zero(text, reference, which):
    scores = User().score([make_story(text, reference)])
    assert {score.status for score in scores} == {Status.UNDEFINED}
    assert all(which in score.note for score in scores)


def test_the_signature_names_the_words_and_whether_junk_is_left_out():
    assert "autojunk:no" in User().signature()
    assert "autojunk:yes" in User(autojunk=True).signature()
    assert "autojunk:yes" in User(compat=True).signature()
    assert User().signature() != User(stop_words="english").signature()


def test_a_list_that_cannot_be_read_is_refused():
    with pytest.raises(SettingError, match="stop_words="):
        User(stop_words="no/such/file.txt")
