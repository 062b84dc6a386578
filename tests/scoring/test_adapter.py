from __future__ import annotations

import math

import pytest

import fabula
from fabula.core.errors import InputError, SettingError, UnknownName, UserError
from fabula.core.story import Story
from fabula.scoring.adapter import as_evaluate
from fabula.scoring.evaluate import evaluate

TEXTS = ["The lamp went out.", "Nobody lit it again, ever."]
REFERENCES = ["The lamp failed.", "Nobody lit it."]


def test_the_mean_stands_under_the_spec() -> None:
    found = as_evaluate("words").compute(predictions=TEXTS)
    assert found["words"] == 4.5
    assert found["scores"] == {"words": [4.0, 5.0]}
    assert found["statuses"] == {"words": ["ok", "ok"]}
    assert found["left_out"] == {"words": 0}
    assert found["signature"].startswith("words|")


def test_aspects_stand_apart_and_are_those_of_evaluate() -> None:
    found = as_evaluate("rouge( n = 2 )").compute(predictions=TEXTS, references=REFERENCES)
    stories = [
        Story(str(i), text, references=(reference,))
        for i, (text, reference) in enumerate(zip(TEXTS, REFERENCES, strict=True))
    ]
    for aspect in ("recall", "precision", "f"):
        values = [score.value for score in evaluate(stories, "rouge(n=2)").of("rouge(n=2)", aspect)]
        assert found["scores"][f"rouge(n=2).{aspect}"] == values
        assert found[f"rouge(n=2).{aspect}"] == pytest.approx(sum(values) / 2)


def test_several_references_one_or_none() -> None:
    metric = as_evaluate("rouge(n=1)")
    several = [[REFERENCES[0], TEXTS[0]], [REFERENCES[1]]]
    assert metric.compute(predictions=TEXTS, references=several)["scores"]["rouge(n=1).f"][0] == 1.0
    found = metric.compute(predictions=TEXTS, references=[TEXTS[0], None])
    assert found["rouge(n=1).f"] == 1.0
    assert found["left_out"]["rouge(n=1).f"] == 1
    assert found["statuses"]["rouge(n=1).f"] == ["ok", "missing_reference"]


def test_where_nothing_has_a_value_the_mean_is_missing() -> None:
    found = as_evaluate("rouge").compute(predictions=TEXTS)
    assert math.isnan(found["rouge.f"]) and found["left_out"]["rouge.f"] == 2


def test_settings_can_be_given_with_the_stories() -> None:
    metric = as_evaluate("rouge(n=2)")
    found = metric.compute(predictions=TEXTS, references=REFERENCES, n=1)
    assert "rouge(n=1).f" in found and metric.name == "rouge(n=2)"
    with pytest.raises(SettingError, match="rouge has no setting 'k'"):
        metric.compute(predictions=TEXTS, references=REFERENCES, k=1)


def test_what_was_added_is_computed_once() -> None:
    metric = as_evaluate("words")
    metric.add(prediction=TEXTS[0])
    metric.add_batch(predictions=TEXTS, references=REFERENCES)
    assert metric.compute()["scores"]["words"] == [4.0, 4.0, 5.0]
    with pytest.raises(InputError, match="nothing to compute"):
        metric.compute()


def test_one_story_can_be_added_with_its_reference_and_prompt() -> None:
    metric = as_evaluate("rouge(n=1)")
    metric.add(prediction=TEXTS[0], reference=[TEXTS[0], "Else."], prompt="A lamp.")
    assert metric.compute()["rouge(n=1).f"] == 1.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"predictions": TEXTS, "references": ["one"]}, "2 predictions but 1 references"),
        ({"predictions": TEXTS, "prompts": ["one"] * 3}, "2 predictions but 3 prompts"),
        ({"predictions": "text"}, "predictions must be several texts"),
        ({"predictions": TEXTS, "references": "text"}, "references must be several texts"),
        ({"predictions": [1, 2]}, "text must be a string"),
        ({"references": ["one"]}, "there are no predictions"),
        ({"predictions": []}, "nothing to compute"),
        ({}, "nothing to compute"),
    ],
)
def test_what_does_not_fit_is_for_the_user_to_mend(given: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        as_evaluate("words").compute(**given)


def test_a_name_that_is_not_known_is_for_the_user_to_mend() -> None:
    with pytest.raises(UnknownName, match="did you mean 'words'"):
        as_evaluate("wordz")
    with pytest.raises(SettingError, match="stories have no labels"):
        as_evaluate("words").add_batch(predictions=TEXTS, labels=[1, 2])


def test_the_words_are_those_of_the_card() -> None:
    metric = as_evaluate("rouge(n=2)")
    assert metric.name == "rouge(n=2)"
    assert "Lin" in metric.citation
    assert "ROUGE" in metric.description and "predictions" in metric.inputs_description


def test_it_is_exported_and_takes_metrics() -> None:
    built = as_evaluate("words").metric
    assert fabula.as_evaluate(built).name == "words"


@pytest.mark.filterwarnings("ignore")
class TestCombined:
    def test_evaluate_combines_metrics(self) -> None:
        hub = pytest.importorskip("evaluate")
        both = hub.combine([as_evaluate("words"), as_evaluate("rouge(n=1)")])
        found = both.compute(predictions=TEXTS, references=REFERENCES)
        assert found["words"] == 4.5 and found["rouge(n=1).f"] > 0
        assert found["words_signature"].startswith("words|")
        assert found["rouge(n=1)_left_out"]["rouge(n=1).f"] == 0

    def test_evaluate_adds_to_the_metrics_it_combines(self) -> None:
        hub = pytest.importorskip("evaluate")
        both = hub.combine([as_evaluate("words"), as_evaluate("rouge(n=1)")])
        both.add(TEXTS[0], REFERENCES[0])
        both.add_batch(TEXTS[1:], REFERENCES[1:])
        found = both.compute()
        whole = as_evaluate("rouge(n=1)").compute(predictions=TEXTS, references=REFERENCES)
        assert found["rouge(n=1).f"] == whole["rouge(n=1).f"]

    def test_evaluate_saves_what_was_computed(self, tmp_path) -> None:
        hub = pytest.importorskip("evaluate")
        found = as_evaluate("words").compute(predictions=TEXTS)
        assert hub.save(tmp_path / "found.json", **found).is_file()
