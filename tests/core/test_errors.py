from __future__ import annotations

import pickle

from fabula.core.errors import PackageMissing, SettingError, UserError, closest


def test_an_error_is_one_line_with_problem_and_remedy():
    assert str(UserError("a\nb  c", "do\tthis")) == "a b c; do this"
    assert str(UserError("only this")) == "only this"


def test_an_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(SettingError("problem", "remedy")))
    assert (type(error), error.problem, error.remedy) == (SettingError, "problem", "remedy")


def test_a_missing_package_says_how_to_install_it():
    assert str(PackageMissing("numba", "fast")).endswith("run: pip install -e '.[fast]'")


def test_torch_is_installed_in_the_build_that_fits_the_machine():
    assert str(PackageMissing("torch", "models")).endswith("torch that fits your machine")


def test_a_missing_package_travels_between_processes():
    error = pickle.loads(pickle.dumps(PackageMissing("numba", "fast")))
    assert str(error) == str(PackageMissing("numba", "fast"))


def test_the_nearest_name_is_suggested_or_else_all_of_them():
    assert closest("rogue", ["bleu", "rouge"]) == "did you mean 'rouge'?"
    assert closest("xyz", ["rouge", "bleu"]) == "known: bleu, rouge"
    assert closest("xyz", []) == "known: none"
