"""Word vectors of files and folders: the usual forms, and what is said of faulty ones."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.model import WordVectors
from fabula.models import load_model
from fabula.models.embedded import load as load_embedded
from fabula.models.fake import load as load_fake
from fabula.models.word_vectors import load
from fakes.assets import need_asset

GLOVE = "sea 1 0.5\nship 0 -2e-1\nold 3 4\n"


def saved(folder: Path, text: str, name: str = "some.txt") -> str:
    path = folder / name
    path.write_bytes(text.encode())
    return str(path)


def saved_folder(folder: Path, words: str, rows: object) -> str:
    np.save(folder / "vectors.npy", np.array(rows))
    (folder / "words.txt").write_text(words, encoding="utf-8")
    return str(folder)


def check(model: WordVectors) -> None:
    assert isinstance(model, WordVectors)
    assert model.width == 2
    np.testing.assert_allclose(model.rows(["old", "ship"]), [[3, 4], [0, -0.2]])
    assert np.isnan(model.rows(["Sea", ""])).all()
    assert model.rows([]).shape == (0, 2)


@pytest.mark.parametrize("text", [GLOVE, "3 2\n" + GLOVE, GLOVE.replace(" ", "\t"), GLOVE + "\n"])
def test_glove_s_and_word2vec_s_text_are_read(tmp_path, text):
    check(load(saved(tmp_path, text)))


def test_a_packed_file_is_read(tmp_path):
    path = tmp_path / "some.txt.gz"
    path.write_bytes(gzip.compress(GLOVE.encode()))
    check(load(str(path)))


def test_a_folder_with_an_array_is_read(tmp_path):
    check(load(saved_folder(tmp_path, "sea\nship\nold\n", [[1, 0.5], [0, -0.2], [3, 4]])))


def test_a_word_may_hold_blanks_and_of_two_alike_the_first_counts(tmp_path):
    model = load(saved(tmp_path, "sea 1 2\n. . . 3 4\nsea 5 6\nnew\u00a0york 7 8\n"))
    found = model.rows([". . .", "sea", "new\u00a0york"])
    np.testing.assert_array_equal(found, [[3, 4], [1, 2], [7, 8]])


def test_a_word_may_hold_signs_that_look_like_the_end_of_a_line(tmp_path):
    model = load(saved_folder(tmp_path, "a\u0085b\nc\u2028\nd", [[1.0], [2.0], [3.0]]))
    np.testing.assert_array_equal(model.rows(["a\u0085b", "c\u2028", "d"])[:, 0], [1, 2, 3])


def test_bytes_that_are_no_utf8_do_not_stop_the_reading(tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(b"caf\xe9 1 2\nsea 3 4\n")
    np.testing.assert_array_equal(load(str(path)).rows(["sea"]), [[3, 4]])


def test_the_signature_tells_the_content_and_not_the_place(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    first = load(saved(tmp_path / "one", GLOVE)).signature
    assert first == load(saved(tmp_path / "other", GLOVE)).signature
    assert first != load(saved(tmp_path / "other", GLOVE + "new 1 1\n")).signature
    assert first.startswith("word_vectors,some.txt@")


def test_it_is_a_backend_and_read_once(tmp_path):
    spec = f"word_vectors({saved(tmp_path, GLOVE)!r})"
    assert load_model(spec) is load_model(spec)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: there are no numbers"),
        ("sea\nship\n", "line 1: there are no numbers"),
        ("sea 1 2\nship 3\n", "line 2: not a word and 2 numbers"),
        ("sea 1 2\n\nship 3 x\n", "line 3: 'x' is no number"),
        ("sea 1 2\nship 3 nan\n", "line 2: a number is not finite"),
        ("2 2\nsea 1 2\n", "the first line says 2 words, there are 1"),
    ],
)
def test_a_faulty_file_says_where(tmp_path, text, problem):
    with pytest.raises(InputError, match=problem):
        load(saved(tmp_path, text))


def test_a_file_that_is_absent_or_damaged_says_so(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load(str(tmp_path / "none.txt"))
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(GLOVE.encode())[:-12])
    with pytest.raises(InputError, match="damaged"):
        load(str(cut))
    cut.write_bytes(b"not packed")
    with pytest.raises(InputError, match="damaged"):
        load(str(cut))


def test_a_folder_that_lacks_something_says_what(tmp_path):
    with pytest.raises(InputError, match=r"has no vectors\.npy"):
        load(str(tmp_path))
    with pytest.raises(InputError, match=r"2 words in words\.txt, 3 rows"):
        load(saved_folder(tmp_path, "a\nb\n", [[1.0], [2.0], [3.0]]))
    with pytest.raises(InputError, match="array of floats"):
        load(saved_folder(tmp_path, "a\n", [1.0]))
    (tmp_path / "vectors.npy").write_text("no array")
    with pytest.raises(InputError, match="is no array"):
        load(str(tmp_path))


def test_the_fake_knows_words_with_a_letter():
    model = load_fake()
    assert isinstance(model, WordVectors)
    winter, winters, number = model.rows(["Winter", "winters", "1984"])
    assert winter @ winters > 0.8
    assert np.isnan(number).all()
    np.testing.assert_array_equal(model.rows(["winter"])[0], winter)
    assert model.rows([]).shape == (0, model.width)


@pytest.mark.assets
def test_the_embedded_vectors_know_400_000_words_and_need_no_torch(monkeypatch):
    need_asset("glove_50d")
    monkeypatch.setitem(sys.modules, "torch", None)
    model = load_embedded("glove_50d")
    assert isinstance(model, WordVectors)
    assert (model.width, len(model.places)) == (50, 400_000)
    dog, puppy, tax, unknown = model.rows(["dog", "puppy", "tax", "Dog"])
    # As printed beside the wheel that the asset comes from: .775 and .226.
    assert dog @ puppy / np.sqrt((dog @ dog) * (puppy @ puppy)) == pytest.approx(0.775, abs=5e-4)
    assert dog @ tax / np.sqrt((dog @ dog) * (tax @ tax)) == pytest.approx(0.226, abs=5e-4)
    assert np.isnan(unknown).all()
    with pytest.raises(SettingError, match="has no settings"):
        load_embedded("glove_50d", window=64)
