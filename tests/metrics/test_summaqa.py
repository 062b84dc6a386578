from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import pytest

from fabula.core.errors import SettingError
from fabula.core.model import Answer
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics import model_metric, summaqa
from fabula.metrics.summaqa import Cloze, Summaqa, clozes, squad_f1
from fabula.models import _load
from fabula.models.reading import tagging

REFERENCE = "Old Tom met Mary Ann in Paris. It rained."
STORY = "Tom was in Paris with a girl."
METRIC = Summaqa(entities="capitals")


@dataclass
class ToldAnswerer:
    """Gives the answers it was told, by question; keeps what it was asked."""

    told: dict[str, Answer]
    signature: str = "told"
    asked: list[Any] = field(default_factory=list)

    def answers(self, pairs: Sequence[tuple[str, str]], *, apart: bool = False) -> Iterator[Answer]:
        self.asked += [(*pair, apart) for pair in pairs]
        return (self.told[question] for question, _ in pairs)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> ToldAnswerer:
    model = ToldAnswerer(
        {
            "Old MASKED met Mary Ann in Paris.": Answer("Tom", 0.6),
            "Old Tom met MASKED in Paris.": Answer("a girl called Ann", 0.3, 0.5),
            "Old Tom met Mary Ann in MASKED.": Answer("", 0.0),
            "We saw MASKED.": Answer("Rome", 0.1),
        }
    )
    monkeypatch.setattr(model_metric, "load_model", lambda spec: model)
    return model


def values(metric: Summaqa, *references: str, text: str = STORY) -> tuple[float, ...]:
    return tuple(score.value for score in metric.score([Story("s", text, references=references)]))


def test_values_are_the_means_over_the_questions(told: ToldAnswerer) -> None:
    # Words "tom" / "tom": 1. "girl called ann" / "mary ann": 2 · 1 / (3 + 2). "" / "paris": 0.
    assert values(METRIC, REFERENCE) == pytest.approx((0.9 / 3, (1 + 0.4 + 0) / 3))
    assert told.asked[0] == ("Old MASKED met Mary Ann in Paris.", STORY, False)
    scores = METRIC.score([Story("s", STORY, references=(REFERENCE,))])
    assert {score.coverage for score in scores} == {0.5}


def test_compat_asks_as_the_release_does(told: ToldAnswerer) -> None:
    values(Summaqa(entities="capitals", compat=True), REFERENCE)
    assert all(apart for _, _, apart in told.asked)


def test_the_reference_with_the_best_f_counts(told: ToldAnswerer) -> None:
    best = values(METRIC, REFERENCE)
    assert values(METRIC, "We saw Oslo.") == (0.1, 0.0)
    assert values(METRIC, "We saw Oslo.", " ", "no name", REFERENCE) == best


def test_without_a_name_there_is_no_value_and_0_under_compat(told: ToldAnswerer) -> None:
    scores = METRIC.score([Story("s", STORY, references=("It rained.",))])
    assert {score.status for score in scores} == {Status.UNDEFINED}
    assert {score.note for score in scores} == {"the reference has no name to ask for"}
    assert values(Summaqa(entities="capitals", compat=True), "It rained.") == (0.0, 0.0)


@pytest.mark.parametrize(
    ("answer", "truth", "value"),
    [
        # SQuAD's evaluation drops case, marks and articles; then F of the words in common.
        ("The red house", "a house", 2 / 3),  # red, house / house: 2 · 1 / (2 + 1)
        ("John Smith's", "john smiths", 1.0),
        ("Mary Mary", "Mary", 2 / 3),  # each word counts as often as both have it
        ("of the King", "the king of France", 4 / 5),  # of, king / king, of, France: 2 · 2 / 5
        ("Rome", "Paris", 0.0),
        ("", "Paris", 0.0),
        ("the", "a", 0.0),
    ],
)
def test_f_is_squad_s(answer: str, truth: str, value: float) -> None:
    assert squad_f1(answer, truth) == pytest.approx(value)


def test_capitals_inside_a_sentence_are_names() -> None:
    text = "“Well, Tom,” said Mary Ann. But I saw “Then” it rain. In Old York's May."
    assert [one.answer for one in clozes(text, "capitals")] == [
        "Tom",
        "Mary Ann",
        "Old York",
        "May",
    ]
    assert clozes(text, "capitals")[2].question == "In MASKED's May."


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
def test_spacy_finds_names_and_each_is_hidden_alone() -> None:
    found = clozes("Old Tom met Mary Ann in Paris. She liked it there.", "spacy")
    assert found == (
        Cloze("Old MASKED met Mary Ann in Paris.", "Tom"),
        Cloze("Old Tom met MASKED in Paris.", "Mary Ann"),
        Cloze("Old Tom met Mary Ann in MASKED.", "Paris"),
    )
    assert clozes("half \ud83d of it went on to Paris", "spacy")[-1].answer == "Paris"


@pytest.mark.assets
@pytest.mark.usefixtures("spacy_small")
@pytest.mark.parametrize("text", ["[" * 3_000, "so it is " * 6_000], ids=["run", "length"])
def test_what_spacy_would_read_for_long_is_too_long(text: str) -> None:
    scores = Summaqa(model="fake()").score([Story("s", STORY, references=(text,))])
    assert {score.status for score in scores} == {Status.TOO_LONG}
    assert "limit of" in scores[0].note


def test_many_questions_on_a_long_story_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaqa, "_MOST_READ", 80)
    metric = Summaqa(model="fake()", entities="capitals")
    [score, _] = metric.score([Story("s", STORY, references=(REFERENCE,))])
    assert score.status is Status.TOO_LONG
    assert score.note == "3 questions × 29 characters: over the limit of 80"


def test_all_that_is_lacking_is_named(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    monkeypatch.setenv("FABULA_ASSETS", "")
    monkeypatch.setattr(_load, "_loaded", {})
    metric = Summaqa(model="huggingface('nobody/nothing')")
    [score, _] = metric.score([Story("s", STORY, references=(REFERENCE,))])
    assert score.status is Status.MISSING_MODEL
    assert "hf download nobody/nothing" in score.note
    if find_spec("spacy"):
        assert "fabula models pull spacy_small" in score.note
    assert "\n" not in score.note
    assert "|model:missing|entities:missing|" in metric.signature()


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "find_spec", lambda name: None)
    [score, _] = Summaqa(model="fake()").score([Story("s", STORY, references=(REFERENCE,))])
    assert score.status is Status.MISSING_MODEL
    assert score.note == "spacy is not installed; run: pip install -e '.[nlp]'"


def test_a_model_that_answers_nothing_is_refused(tmp_path: Any) -> None:
    from fakes.tiny_models import save_t5

    metric = Summaqa(model=f"huggingface('{save_t5(tmp_path)}')", entities="capitals")
    with pytest.raises(SettingError, match="is no answerer; take another model"):
        metric.score([Story("s", STORY, references=(REFERENCE,))])


def test_the_fake_finds_names_in_the_same_text() -> None:
    metric = Summaqa(model="fake()", entities="capitals")
    same, other = values(metric, REFERENCE, text=REFERENCE), values(metric, REFERENCE, text="No.")
    assert same[1] == 1.0
    assert same > other
