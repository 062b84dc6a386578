"""Examples as arrays, and the file that takes them to another machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.learned.training.examples import (
    describe,
    example_set,
    load_prepared,
    save_prepared,
)
from fabula.learned.training.recipe import example_settings
from fakes.tiny_tasks import pair_examples, tiny_prepared, tiny_recipe


def test_examples_know_their_texts():
    one = example_set(
        [[1, 2, 3], [4], []], [[0, 1], [1, 2]], [[1.0], [0.0]], items=["x", "y"], ids=["a"] * 3
    )
    assert [one.text(number) for number in range(3)] == [[1, 2, 3], [4], []]
    some = one.choose(np.array([1]))
    assert (len(some), some.items, some.members.tolist()) == (1, ("y",), [[1, 2]])
    assert len(some.texts) == 3


def test_what_is_written_is_what_is_read(tmp_path):
    prepared, settings = tiny_prepared(), example_settings(tiny_recipe())
    save_prepared(prepared, tmp_path / "new" / "examples.npz", settings)
    again = load_prepared(tmp_path / "new" / "examples.npz", list(prepared.examples), settings)
    assert describe(again.examples) == describe(prepared.examples)
    for name, one in prepared.examples.items():
        assert (one.items, one.ids) == (again.examples[name].items, again.examples[name].ids)
        np.testing.assert_array_equal(one.features, again.examples[name].features)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["examples.npz"]


def test_relations_travel_with_the_examples_and_a_file_without_them_has_none(tmp_path):
    prepared, file = tiny_prepared(), tmp_path / "examples.npz"
    rated = prepared.examples["rated"]
    rows = np.arange(2 * len(rated), dtype=np.float32).reshape(-1, 2)
    related = {**prepared.examples, "rated": replace(rated, relations=rows)}
    save_prepared(replace(prepared, examples=related), file)
    again = load_prepared(file, ["rated", "labels"]).examples
    np.testing.assert_array_equal(again["rated"].relations, rows)
    assert len(again["labels"].relations) == 0


def test_examples_of_another_recipe_are_refused(tmp_path):
    file = tmp_path / "examples.npz"
    save_prepared(tiny_prepared(), file, example_settings(tiny_recipe()))
    other = example_settings(tiny_recipe(left_out=["hanna"]))
    with pytest.raises(InputError, match="of another recipe; delete it, or name another file"):
        load_prepared(file, ["rated"], other)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut off"])
def test_a_file_that_holds_no_examples_is_refused(tmp_path, content):
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(InputError, match="does not hold the examples"):
        load_prepared(tmp_path / "bad.npz", ["rated"])


def test_a_missing_task_is_named(tmp_path):
    save_prepared(tiny_prepared(), tmp_path / "examples.npz")
    with pytest.raises(InputError, match="other"):
        load_prepared(tmp_path / "examples.npz", ["other"])


def test_a_digest_tells_other_targets():
    one = pair_examples()
    assert one.sha256 == pair_examples().sha256
    assert one.sha256 != one.choose(np.arange(3)).sha256
