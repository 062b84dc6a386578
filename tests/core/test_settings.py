from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest

from fabula.core.errors import SettingError
from fabula.core.settings import (
    AtLeast,
    Between,
    changed_settings,
    check_settings,
    describe,
    kinds_of,
    named_settings,
)


@dataclass(frozen=True)
class Oven:
    quiet: bool = field(default=False, kw_only=True)
    n: Literal[1, 2, "L"] = 1
    size: Annotated[int, AtLeast(1)] = 3
    heat: Annotated[float, Between(0.0, 2.0)] = 1.0
    label: str | None = None

    def __post_init__(self):
        check_settings(self, "oven")


def test_settings_that_will_do_are_kept_as_they_are():
    oven = Oven("L", 5, 0.5, "x", quiet=True)
    assert (oven.n, oven.size, oven.heat, oven.label, oven.quiet) == ("L", 5, 0.5, "x", True)


def test_a_whole_number_becomes_a_float_where_one_is_due():
    heat = Oven(heat=2).heat
    assert type(heat) is float
    assert heat == 2.0


@pytest.mark.parametrize(
    ("given", "setting", "remedy"),
    [
        ({"n": 3}, "n=3", "one of 1, 2, 'L'"),
        ({"n": 1.0}, "n=1.0", "one of 1, 2, 'L'"),
        ({"n": "l"}, "n='l'", "one of 1, 2, 'L'"),
        ({"size": 0}, "size=0", "a whole number at least 1"),
        ({"size": 2.0}, "size=2.0", "a whole number at least 1"),
        ({"size": "2"}, "size='2'", "a whole number at least 1"),
        ({"heat": 2.5}, "heat=2.5", "a number from 0 to 2"),
        ({"heat": "hot"}, "heat='hot'", "a number from 0 to 2"),
        ({"label": 1}, "label=1", "a string or None"),
        ({"quiet": 1}, "quiet=1", "True or False"),
        ({"quiet": None}, "quiet=None", "True or False"),
    ],
)
def test_a_bad_setting_names_its_owner_itself_and_the_remedy(given, setting, remedy):
    with pytest.raises(SettingError) as caught:
        Oven(**given)
    assert caught.value.problem == f"oven: {setting} will not do"
    assert caught.value.remedy == f"give {remedy}"


@pytest.mark.parametrize("given", [{"n": True}, {"size": True}, {"heat": True}, {"heat": False}])
def test_true_and_false_are_not_numbers(given):
    with pytest.raises(SettingError):
        Oven(**given)


@pytest.mark.parametrize("bad", [[], {}, (), {1}, b"x", 1j, object(), float("nan")])
@pytest.mark.parametrize("name", ["n", "size", "heat", "label", "quiet"])
def test_odd_values_are_refused_and_do_not_break_the_check(name, bad):
    with pytest.raises(SettingError, match=f"oven: {name}="):
        Oven(**{name: bad})


@pytest.mark.parametrize(
    "number",
    [float("inf"), -float("inf"), float("nan"), 10**400, -(10**400)],
    ids=["inf", "-inf", "nan", "1 and 400 zeros", "-1 and 400 zeros"],
)
def test_numbers_beyond_all_bounds_are_refused(number):
    @dataclass(frozen=True)
    class Free:
        heat: float = 1.0

    with pytest.raises(SettingError, match="free: heat="):
        check_settings(Free(number), "free")


def test_unnamed_settings_take_their_names_in_order():
    given = named_settings(Oven, "oven", ("L", 7), {"quiet": True})
    assert given == {"n": "L", "size": 7, "quiet": True}


def test_keyword_only_settings_cannot_be_unnamed():
    with pytest.raises(SettingError, match="oven takes 4 unnamed settings, not 5"):
        named_settings(Oven, "oven", (1, 2, 1.0, "x", True), {})


def test_a_setting_given_twice_is_refused():
    with pytest.raises(SettingError, match="oven: n is given twice"):
        named_settings(Oven, "oven", (1,), {"n": 2})


def test_an_unknown_setting_suggests_the_closest():
    with pytest.raises(SettingError, match="oven has no setting 'sise'; did you mean 'size'"):
        named_settings(Oven, "oven", (), {"sise": 2})


def test_changed_settings_leave_the_defaults_out_and_keep_the_order():
    assert changed_settings(Oven()) == {}
    changed = changed_settings(Oven(quiet=True, heat=2, n="L"))
    assert list(changed.items()) == [("n", "L"), ("heat", 2.0), ("quiet", True)]


def test_a_setting_can_be_described_in_words():
    kinds = {name: describe(kind) for name, kind in kinds_of(Oven).items()}
    assert kinds == {
        "n": "one of 1, 2, 'L'",
        "size": "a whole number at least 1",
        "heat": "a number from 0 to 2",
        "label": "a string or None",
        "quiet": "True or False",
    }
