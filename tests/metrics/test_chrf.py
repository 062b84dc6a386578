from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics.chrf import Chrf
from fakes.factories import make_story, value_of

some = st.text(min_size=1, max_size=80).filter(str.strip)
few = st.text("ab,. \t\n'Aé漢😀", min_size=1, max_size=80).filter(str.strip)
texts = some | few
many = st.lists(texts, min_size=1, max_size=3)


def sacre(text: str, references: list[str], **settings) -> float:
    """Value of sacrebleu 2.6, whose orders are those both texts are long enough for."""
    return CHRF(**settings).sentence_score(text, references).score


@given(texts, many)
def test_the_default_is_sacrebleus_chrf2(text, references):
    assert value_of(Chrf(), text, *references) == pytest.approx(sacre(text, references), abs=1e-9)


@given(texts, many)
def test_with_word_order_2_it_is_sacrebleus_chrf_plus_plus(text, references):
    expected = sacre(text, references, word_order=2)
    assert value_of(Chrf(word_order=2), text, *references) == pytest.approx(expected, abs=1e-9)


@given(
    texts,
    many,
    st.integers(1, 20),
    st.integers(0, 4),
    st.sampled_from([0, 1, 2, 3, 7]),
    st.booleans(),
    st.booleans(),
)
def test_all_settings_are_sacrebleus(
    text, references, char_order, word_order, beta, whitespace, lowercase
):
    expected = sacre(
        text,
        references,
        char_order=char_order,
        word_order=word_order,
        beta=beta,
        whitespace=whitespace,
        lowercase=lowercase,
    )
    metric = Chrf(char_order, word_order, beta, whitespace, lowercase)
    assert value_of(metric, text, *references) == pytest.approx(expected, abs=1e-9)


def test_the_value_printed_by_summeval(summeval):
    golden = summeval["chrf"]
    value = value_of(Chrf(), golden["cands"][0], golden["refs"][0])
    assert value == pytest.approx(100 * golden["first_pair"], rel=1e-12)


def test_a_value_by_hand():
    # Orders 1 and 2 of "abc" beside "abd": 2 of 3 and 1 of 2 in both; order 3: 0 of 1.
    assert value_of(Chrf(), "abc", "abd") == pytest.approx(100 * (2 / 3 + 1 / 2 + 0) / 3)


def test_recall_counts_more_the_larger_beta_is():
    # One order: "ab" beside "abcd" has precision 1 and recall 1/2.
    values = {beta: value_of(Chrf(1, beta=beta), "ab", "abcd") for beta in (0, 1, 2)}
    assert values == pytest.approx({0: 100, 1: 100 * 2 / 3, 2: 100 * 2.5 / 4.5})


def test_blanks_do_not_count_unless_asked_for():
    assert value_of(Chrf(), "a b\nc", "abc") == pytest.approx(100)
    assert value_of(Chrf(whitespace=True), "a b\nc", "abc") < 100


def test_the_best_reference_counts():
    values = [value_of(Chrf(), "the cat", reference) for reference in ("the cap", "a dog")]
    assert value_of(Chrf(), "the cat", "a dog", " ", "the cap") == max(values)


def test_compat_is_chrf3_with_blanks_and_a_newline_at_the_end():
    expected = CHRF(char_order=6, beta=3, whitespace=True).sentence_score("the cat\n", ["a cat\n"])
    assert value_of(Chrf(compat=True), "the cat", "a cat") == pytest.approx(
        expected.score, abs=1e-9
    )


def test_compat_leaves_no_other_setting():
    with pytest.raises(SettingError, match="chrf: compat has settings of its own"):
        Chrf(beta=1, compat=True)


def test_nothing_in_common_is_zero():
    assert value_of(Chrf(), "abc", "xyz") == 0.0
    assert value_of(Chrf(word_order=2), "a", "b") == 0.0


@pytest.mark.parametrize("beta", [1e200, 1e308, 1e-200, 0])
def test_an_extreme_beta_gives_a_value_or_is_refused(beta):
    try:
        metric = Chrf(beta=beta)
    except SettingError:
        return
    [score] = metric.score([make_story("ab", "abcd")])
    assert score.ok or score.status is Status.UNDEFINED
    assert score.ok is False or 50 - 1e-9 <= score.value <= 100 + 1e-9
