from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fabula
from fabula.core.errors import SettingError, SpecError, UnknownName
from fabula.core.story import Story
from fabula.scoring.assertions import assert_story, parse_condition

TEXT = "The lamp went out. Nobody lit it again."


@pytest.mark.parametrize(
    "condition",
    [
        "words == 8", "words >= 8", "words <= 8", "words > 7.5", "words < 9", "words != 7",
        "7 < words", "2 <= words <= 9", "9 > words > 2", "-1 < words", "+8 == words",
        "repetition(n=1) < 0.5", "0 <= repetition( n = 1 ) <= 1", " words == 8\n",
        "word_length(compat=True) > 1",
    ],
)  # fmt: skip
def test_a_condition_that_holds_says_nothing(condition: str) -> None:
    assert_story(TEXT, condition)
    assert_story(Story("mine", TEXT), condition)


@pytest.mark.parametrize(
    "condition", ["words == 7", "words > 8", "9 <= words", "2 < words < 8", "words != 8"]
)
def test_a_condition_that_does_not_hold_is_an_assertion_error(condition: str) -> None:
    with pytest.raises(AssertionError, match="does not hold: the value is 8\n"):
        assert_story(TEXT, condition)


def test_the_message_shows_value_status_signature_and_text() -> None:
    with pytest.raises(AssertionError) as raised:
        assert_story(Story("mine", TEXT + " " + "x" * 500), "0.9 < mattr(window=5) < 0.95")
    lines = str(raised.value).splitlines()
    assert lines[0] == "0.9 < mattr(window=5) < 0.95 does not hold: the value is 1"
    assert lines[1] == "  status: ok"
    assert lines[2].startswith("  signature: mattr(window=5)|")
    assert lines[3].startswith(f"  story 'mine': '{TEXT} xxx") and lines[3].endswith("xxx…'")


def test_the_note_of_a_score_is_shown() -> None:
    with pytest.raises(AssertionError, match="note: shorter than the window of 50 words"):
        assert_story(TEXT, "mattr < 0.1")


@pytest.mark.parametrize(
    ("text", "condition", "status"),
    [("", "words < 9", "empty_text"), (TEXT, "rouge.f >= 0", "missing_reference")],
)
def test_a_missing_value_fails_whatever_is_asked_of_it(
    text: str, condition: str, status: str
) -> None:
    for asked in (condition, condition.split()[0] + " != 0.123"):
        with pytest.raises(AssertionError, match=f"there is no value\n  status: {status}\n  note:"):
            assert_story(text, asked)


@pytest.mark.parametrize("references", [TEXT, [TEXT], (TEXT, "Else.")])
def test_references_can_be_given(references: object) -> None:
    assert_story(TEXT, "rouge(n=1).f == 1", references=references)
    story = Story("mine", TEXT, references=("Other words altogether",))
    assert_story(story, "rouge(n=1).f == 0")
    assert_story(story, "rouge(n=1).f == 1", references=references)


def test_a_prompt_can_be_given() -> None:
    assert_story(TEXT, "words == 8", prompt="A lamp.")


@pytest.mark.parametrize(
    "wrong",
    [
        "", "words", "words >=", ">= 3", "words >= words", "3 <= 4", "words >= True", "words in 3",
        "words >= '3'", "words = 3", "words >= 3 and words < 9", "1 < words < repetition",
        "__import__('os').system('true') == 0", "words >= 3j", "words is 3", "(" * 500,
    ],
)  # fmt: skip
def test_what_is_no_condition_is_for_the_user_to_mend(wrong: str) -> None:
    with pytest.raises((SpecError, UnknownName)):
        assert_story(TEXT, wrong)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ("rouge > 0", SpecError, "write .ASPECT after it: recall, precision, f"),
        ("rouge.recal > 0", SpecError, "did you mean 'recall'"),
        ("words.f > 0", SpecError, "words has no aspect 'f'"),
        ("wordz > 0", UnknownName, "did you mean 'words'"),
        ("rouge(k=2).f > 0", SettingError, "rouge has no setting 'k'"),
        ("rouge(n=open('x')).f > 0", SpecError, "cannot read"),
        ("a.b.c > 0", SpecError, "cannot read"),
    ],
)
def test_a_condition_names_what_is_wrong_with_it(wrong: str, error: type, words: str) -> None:
    with pytest.raises(error, match=words.replace(".", r"\.")):
        parse_condition(wrong)


def test_it_is_exported() -> None:
    assert fabula.assert_story is assert_story


TESTS = """
def test_holds(assert_story):
    assert_story("Once upon a time.", "words == 4")

def test_fails(assert_story):
    assert_story("Once upon a time.", "words > 4")
"""


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if "PYTEST" not in key}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir=.", *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_pytest_finds_the_fixture_by_itself(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS, encoding="utf-8")
    done = run_pytest(tmp_path, "-W", "error")
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "AssertionError: words > 4 does not hold: the value is 4" in done.stdout
    assert '>       assert_story("Once upon a time.", "words > 4")' in done.stdout
    assert "assertions.py" not in done.stdout
    assert "Check a story" in run_pytest(tmp_path, "--fixtures").stdout


def test_the_plug_in_loads_next_to_nothing_when_pytest_starts(tmp_path: Path) -> None:
    code = """
import sys
def test_nothing():
    assert "fabula.scoring.pytest_plugin" in sys.modules
    assert not {"numpy", "sacrebleu", "fabula.core", "fabula.metrics"} & set(sys.modules)
"""
    (tmp_path / "test_light.py").write_text(code, encoding="utf-8")
    quiet = ["-p", "no:hypothesispytest", "-p", "no:xdist"]
    done = run_pytest(tmp_path, *quiet)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
