from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import SettingError, UserError
from fabula.models.asking.opening import open_respondent, respondent_spec
from fabula.models.asking.question import Question, Respondent

SCALE = ("1", "2", "3", "4", "5")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))


def ask_all(respondent: Respondent, *questions: Question) -> dict[str, Any]:
    return {response.key: response for response in respondent.ask(questions)}


def test_the_embedded_model_is_the_small_assistant_unless_another_is_named() -> None:
    assert respondent_spec("embedded()") == "embedded('smollm2')"
    assert respondent_spec(" embedded ") == "embedded('smollm2')"
    assert respondent_spec("embedded('smollm2_stories')") == "embedded('smollm2_stories')"
    spelled = respondent_spec("api('m', base_url='http://h/v1', timeout_s=60)")
    assert spelled == "api('m', base_url='http://h/v1')"


def test_a_made_up_model_gives_one_choice_with_probabilities_that_sum_to_one() -> None:
    found = ask_all(open_respondent("fake()"), Question("a", "How good?", choices=SCALE))["a"]
    assert found.text in SCALE
    assert sum(found.probabilities.values()) == pytest.approx(1.0)
    assert max(found.probabilities, key=found.probabilities.__getitem__) == found.text


def test_a_made_up_model_follows_a_schema() -> None:
    parts = {
        "reason": {"type": "string"},
        "score": {"type": "integer", "minimum": 2, "maximum": 3},
        "answer": {"enum": ["yes", "no"]},
        "list": {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
    }
    schema = {"type": "object", "properties": parts}
    answer = ask_all(open_respondent("fake()"), Question("a", "How good?", schema=schema))["a"]
    value = json.loads(answer.text)
    assert list(value) == list(parts)
    assert value["score"] in (2, 3)
    assert value["answer"] in ("yes", "no")
    assert [type(each) for each in value["list"]] == [bool, bool]
    assert 0 <= value["share"] <= 1


def test_what_was_answered_is_found_again_and_another_seed_is_another_model() -> None:
    question = Question("a", "How good?", choices=SCALE)
    first = ask_all(open_respondent("fake()"), question)["a"]
    again = ask_all(open_respondent("fake()"), question)["a"]
    assert (first.is_recalled, again.is_recalled) == (False, True)
    assert (again.text, again.probabilities) == (first.text, first.probabilities)
    prompts = [Question(str(number), f"Story {number}", choices=SCALE) for number in range(20)]
    one = ask_all(open_respondent("fake()"), *prompts)
    two = ask_all(open_respondent("fake(seed=1)"), *prompts)
    assert [one[key].text for key in one] != [two[key].text for key in one]


def test_a_model_is_opened_once() -> None:
    assert open_respondent("fake()") is open_respondent("fake(seed=0)")


def test_a_model_that_does_not_write_is_refused(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("cat 1 0\ndog 0 1\n")
    with pytest.raises(SettingError, match="answers no questions; take one that writes"):
        open_respondent(f"word_vectors({str(words)!r})")
    with pytest.raises(UserError):
        open_respondent("nobody('x')")
