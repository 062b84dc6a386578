from __future__ import annotations

import os

import pytest

from fabula.core.errors import SettingError, UserError
from fabula.metrics._words import stop_words, stop_words_digest
from fabula.metrics.rouge import Rouge
from fabula.models.word_vectors import load
from fabula.scoring.catalogue import METRICS
from fakes.factories import values_of


def digest_of(path):
    return stop_words_digest(stop_words(str(path)))


@pytest.fixture
def listed(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# mine\nThe\n\n  a \n#not\n", encoding="utf-8")
    return path


def test_no_list_leaves_nothing_out():
    assert stop_words("") == frozenset()


def test_our_own_list_holds_function_words_and_no_comments():
    found = stop_words("english")
    assert {"the", "a", "of", "and", "was", "don't"} <= found
    assert not found & {"dragon", "story", ""}
    assert not any(word.startswith("#") for word in found)


def test_a_file_has_one_word_a_line_in_any_case(listed):
    assert stop_words(str(listed)) == {"the", "a"}


@pytest.mark.parametrize("name", ["no/such/file.txt", ".", "German", "\x00", "\ud800"], ids=ascii)
def test_a_list_that_cannot_be_read_is_refused_when_the_metric_is_made(name):
    with pytest.raises(SettingError, match="stop_words=") as caught:
        Rouge(1, stop_words=name)
    assert "give 'english' or a text file" in str(caught.value)


def test_a_list_without_end_is_refused_and_not_read(tmp_path, monkeypatch):
    with pytest.raises(SettingError, match="it is no regular file"):
        Rouge(1, stop_words="/dev/zero")
    path = tmp_path / "long.txt"
    path.write_text("the\n" * 50, encoding="utf-8")
    monkeypatch.setattr("fabula.metrics._words._MOST_BYTES", 100)
    with pytest.raises(SettingError, match="it has more than 100 bytes"):
        Rouge(1, stop_words=str(path))


@pytest.mark.parametrize("spec", ["s3(regressor='/dev/zero')", "s3(regressor='/dev/full')"])
def test_a_regressor_without_end_is_refused_and_not_read(spec):
    with pytest.raises(SettingError, match="it is no regular file"):
        METRICS.build(spec)


def test_vectors_without_end_are_refused_and_not_read():
    with pytest.raises(UserError, match="/dev/zero is no regular file"):
        load("/dev/zero")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "odd.txt"
    path.write_bytes(b"\xff\xfe\x00bad")
    with pytest.raises(SettingError, match="cannot be read"):
        Rouge(1, stop_words=str(path))


def test_stop_words_do_not_count(listed):
    # Without the and a: "cat" beside "cat dog".
    text, reference = "The cat", "a cat, the dog"
    assert values_of(Rouge(1, stop_words=str(listed)), text, reference) == pytest.approx(
        (1 / 2, 1, 2 / 3)
    )


def test_our_own_list_works_under_compat_too():
    values = values_of(Rouge(1, stop_words="english", compat=True), "the cat", "of a cat and dog")
    assert values == (0.5, 1.0, 0.66667)


def test_a_reference_of_stop_words_alone_is_undefined():
    assert str(values_of(Rouge(1, stop_words="english"), "cat", "the of")) == "(nan, nan, nan)"


def test_the_signature_changes_with_the_words_of_the_file(tmp_path):
    signatures = set()
    for words in ("a\nthe\n", "a\nan\n"):
        path = tmp_path / f"{len(signatures)}.txt"
        path.write_text(words, encoding="utf-8")
        signatures.add(stop_words_digest(str(path)))
    assert len(signatures) == 2


def test_the_signature_does_not_change_with_order_blanks_or_comments(tmp_path):
    for name, words in (("1", "a\nthe\n"), ("2", "# list\nTHE\n\n a \n")):
        (tmp_path / name).write_text(words, encoding="utf-8")
    assert digest_of(tmp_path / "1") == digest_of(tmp_path / "2")


def test_a_file_that_was_changed_is_read_again(listed):
    metric = Rouge(1, stop_words=str(listed))
    before = metric.signature()
    listed.write_text("the\na\ncat\n", encoding="utf-8")
    os.utime(listed, (1, 1))
    assert Rouge(1, stop_words=str(listed)).signature() != before
    values = values_of(Rouge(1, stop_words=str(listed)), "the cat dog", "a cat dog")
    assert values == pytest.approx((1, 1, 1))


def test_the_digest_is_part_of_the_signature(listed):
    metric = Rouge(1, stop_words=str(listed))
    assert f"stop:{digest_of(listed)}" in metric.signature()
    assert "stop:" not in Rouge(1).signature()
