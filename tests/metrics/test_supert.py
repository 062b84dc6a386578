from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.model import TokenStates
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.metrics import _vectors, model_metric
from fabula.metrics.supert import Supert

RED, BLUE, PINK, ANTI = (1.0, 0.0), (0.0, 1.0), (0.8, 0.6), (-1.0, 0.0)
MEANINGS = {"red": RED, "blue": BLUE, "pink": PINK, "anti": ANTI, "the": RED, ".": ANTI}


@dataclass
class Dictionary:
    """Words mean the same wherever they stand; those it does not know are cut at three letters."""

    signature: str = "dictionary"
    width: int = 2
    layers: int = 1
    asked: list[str] = field(default_factory=list)
    coverage: float = 1.0

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(word for word, _ in pieces(text)) for text in texts]

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> Iterator[TokenStates]:
        self.asked += texts
        for text in texts:
            found = [("<s>", (0, 0)), *pieces(text), ("</s>", (0, 0))]
            vectors = [MEANINGS.get(word.lower(), BLUE) for word, _ in found]
            states = 3.0 * np.array([vectors])
            tokens, spans = zip(*found, strict=True)
            yield TokenStates(tokens, spans, states, self.coverage)

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        raise NotImplementedError


def pieces(text: str) -> list[tuple[str, tuple[int, int]]]:
    found, start = [], 0
    for word in text.replace(".", " .").split():
        start = text.index(word, start)
        size = len(word) if word.lower() in MEANINGS else min(3, len(word))
        parts = (word[:size], word[size:]) if word[size:] else (word,)
        for part in parts:
            found.append((part, (start, start := start + len(part))))
    return found


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> Dictionary:
    made = Dictionary()
    monkeypatch.setattr(model_metric, "load_model", lambda spec: made)
    return made


def score_of(text: str, prompt: str | None = None, *references: str, **settings: object) -> Score:
    metric = Supert(model="fake()", **settings)
    [score] = metric.score([Story("s", text, prompt, references)])
    return score


def test_the_f_of_the_best_cosines_by_hand():
    # Red and blue have .8 and .6 to pink, in the mean .7; pink has .8: 2 · .7 · .8 / 1.5.
    assert score_of("red blue", "pink").value == pytest.approx(1.12 / 1.5)


def test_all_uses_find_their_texts():
    golden = score_of("red blue", None, "pink", use="golden")
    swapped = score_of("pink", "red blue", use="PS")
    assert golden.value == swapped.value == score_of("red blue", "pink", use="SS").value


def test_means_below_zero_stay_there_and_of_mixed_signs_there_is_none():
    assert score_of("red", "anti").value == pytest.approx(-1.0)
    # Precision is (1 − 1) / 2, recall 1.
    assert score_of("red anti", "red").value == 0.0


def test_stop_words_count_only_where_they_are_asked_for():
    assert score_of("the blue", "blue").value == pytest.approx(1.0)
    assert score_of("The blue", "blue").value == pytest.approx(1.0)
    # Precision is (0 + 1) / 2, recall 1: 1 / 1.5.
    assert score_of("the blue", "blue", stop_words="").value == pytest.approx(2 / 3)


def test_stop_words_may_be_a_file_and_its_words_are_in_the_signature(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("red\n", encoding="utf-8")
    assert score_of("red blue", "blue", stop_words=str(path)).value == pytest.approx(1.0)
    first = Supert(model="fake()", stop_words=str(path)).signature()
    path.write_text("blue\n", encoding="utf-8")
    assert Supert(model="fake()", stop_words=str(path)).signature() != first


def test_a_piece_of_a_longer_word_is_no_stop_word_but_for_compat():
    # "notary" is read as "not" and "ary", both of them blue.
    whole, pieced = score_of("notary red", "red"), score_of("notary red", "red", compat=True)
    # One of three tokens has 1 to red, or one of two: precision 1/3 or 1/2, recall 1.
    assert (whole.value, pieced.value) == (pytest.approx(1 / 2), pytest.approx(2 / 3))


def test_only_the_first_sentences_of_the_document_count_and_all_of_the_summary():
    document = "Red. Blue."
    assert score_of("red.", document, sentences=1).value == pytest.approx(1.0)
    assert score_of("red.", document, sentences=2).value < 1.0
    assert score_of(document, "Red.", sentences=1).value < 1.0


def test_what_was_read_of_the_story_is_its_coverage(model):
    story = "Red. Blue pink."
    part = score_of(story, "red", use="PS", sentences=1)
    # Four characters of four and ten.
    assert part.coverage == pytest.approx(4 / 14)
    assert score_of(story, "red", use="PS").coverage == score_of(story, "red").coverage == 1.0
    model.coverage = 0.5
    assert score_of(story, "red").coverage == 0.5


def test_every_sentence_is_encoded_once_and_by_itself(model):
    metric = Supert(model="fake()")
    stories = [Story(str(n), text, "Red.") for n, text in enumerate(["Red. Blue.", "Blue. Pink."])]
    metric.score(stories)
    assert model.asked == ["Red.", "Blue.", "Pink."]


def test_nothing_but_stop_words_is_undefined():
    for pair in [("the", "red"), ("red", "the")]:
        score = score_of(*pair)
        assert score.status is Status.UNDEFINED
        assert score.note == "there is nothing but stop words in one of the texts"


def test_the_best_reference_counts_and_those_without_a_value_do_not():
    best = score_of("red", None, "pink", use="golden").value
    assert score_of("red", None, "blue", "pink", " ", "the", use="golden").value == best


@pytest.mark.parametrize(
    ("use", "prompt", "references", "status"),
    [
        ("SS", None, ("red",), Status.MISSING_PROMPT),
        ("PS", " ", ("red",), Status.MISSING_PROMPT),
        ("golden", "red", (), Status.MISSING_REFERENCE),
        ("golden", "red", (" ",), Status.MISSING_REFERENCE),
    ],
)
def test_what_a_story_needs_depends_on_the_use(use, prompt, references, status):
    assert score_of("red", prompt, *references, use=use).status is status
    assert score_of("", prompt, *references, use=use).status is Status.EMPTY_TEXT


def test_pairs_over_the_limit_are_too_long(monkeypatch):
    monkeypatch.setattr(_vectors, "MOST_PAIRS", 1)
    score = score_of("red blue", "pink")
    assert score.status is Status.TOO_LONG
    assert score.note == "2 × 1 tokens: over the limit of 1 pairs"


@pytest.mark.parametrize("bad", [{"use": "SP"}, {"sentences": 0}, {"layer": -1}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(SettingError, match="supert"):
        Supert(**bad)


def test_stop_words_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(SettingError, match="cannot be read"):
        Supert(stop_words=str(tmp_path / "none.txt"))
