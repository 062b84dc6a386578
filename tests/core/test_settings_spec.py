from __future__ import annotations

import builtins

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import SpecError, UserError
from fabula.core.settings import format_spec, parse_spec, split_specs
from fabula.scoring.catalogue import METRICS, spec

any_text = st.text(st.characters(exclude_categories=()))
names = st.sampled_from(["rouge", "bleu", "x_1"])
values = st.one_of(
    any_text,
    st.text("'\"\\\n,()[]"),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
)
settings_of_any_kind = st.dictionaries(st.sampled_from(["n", "stem", "label"]), values)

NOT_CALLS = [
    "",
    " ",
    "1",
    "'rouge'",
    "rouge(n=[",
    "rouge(n=",
    "rouge)",
    "rouge(n=2",
    "rouge(n=2))",
    "rouge bleu",
    "rouge(n=2)(n=1)",
    "rouge.n",
    "os.system('true')",
    "__import__('os').system('true')",
    "(lambda: rouge)()",
    "[rouge for _ in [1]]",
    "rouge if 1 else bleu",
    "(x := 1)",
    "import os",
    "rouge; bleu",
    "rouge(**{'n': 2})",
    "rouge(*[2])",
    "rouge(n=open)",
    "rouge(n=__import__('os'))",
    "rouge(n=1 + 1)",
    "rouge(n=[1][0])",
    "rouge(n=f'{1}')",
    "rouge(n=lambda: 1)",
    "rouge(n=2 ** 9999999999)",
    "rouge(n={[]: 1})",
    "rouge\x00",
    "\ud800",
    "rouge(n='\ud800",
    "rouge(n=" + "9" * 5000 + ")",
    "(" * 10_000,
    "(" * 10_000 + ")" * 10_000,
    "rouge(n=" + "(" * 10_000 + "1" + ")" * 10_000 + ")",
    "rouge(n=" + "[" * 150 + "x" + "]" * 150 + ")",
    "rouge" + "()" * 10_000,
    "rouge" + ".a" * 10_000,
]
DEEP = [
    "rouge(n=" + mark * depth + end + ")"
    for mark, end in [("-", "1"), ("not ", "1"), ("x+", "x"), ("x.", "x"), ("x**", "x")]
    for depth in (300, 900, 3_000, 100_000)
]


@pytest.mark.parametrize("text", NOT_CALLS, ids=lambda text: ascii(text)[:40])
def test_what_is_no_call_with_plain_values_cannot_be_read(text):
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", DEEP, ids=lambda text: f"{text[8:11]}x{len(text)}")
def test_specs_of_any_depth_are_refused_and_break_nothing(text):
    with pytest.raises(SpecError):
        parse_spec(text)


@pytest.mark.parametrize(
    "text",
    ["'" + "a" * 5_000, "1" * 2_000, f"rouge(n=x + {'a' * 5_000})"],
    ids=["unclosed", "number", "sum"],
)
def test_the_error_for_a_long_spec_is_short(text):
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "eval('1')", "exec('1')", "open('x', 'w')", "print('x')", "exit()"],
)
def test_a_builtin_is_an_unknown_metric_and_never_run(text, monkeypatch):
    def trap(*args, **named):
        raise AssertionError("a spec was run as code")

    for name in ("eval", "exec", "print"):
        monkeypatch.setattr(builtins, name, trap)
    with pytest.raises(UserError, match="no metric is called"):
        METRICS.build(text)


@given(any_text)
def test_any_text_is_read_or_refused(text):
    try:
        name, _, _ = parse_spec(text)
    except SpecError as error:
        assert "\n" not in str(error)
    else:
        assert name.isidentifier()


def test_a_spec_is_read_into_name_and_settings():
    assert parse_spec("rouge") == ("rouge", (), {})
    assert parse_spec(" rouge( 2 ,stem = False ) ") == ("rouge", (2,), {"stem": False})
    assert parse_spec("chrf(beta=-1.5, x=None)") == ("chrf", (), {"beta": -1.5, "x": None})


@pytest.mark.parametrize("text", ["rouge(n=1, n=2)", "rouge(stem=True, n=1, stem=True)"])
def test_a_setting_given_twice_is_refused(text):
    with pytest.raises(UserError, match=r"twice|repeated|cannot read"):
        METRICS.build(text)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("rouge", "rouge"),
        ("rouge()", "rouge"),
        ("rouge( n = 2 )", "rouge(n=2)"),
        ("rouge(2)", "rouge(n=2)"),
        ("rouge('L')", "rouge"),
        ('rouge(n="W")', "rouge(n='W')"),
        ("rouge(stem=False, n=1)", "rouge(n=1, stem=False)"),
        ("rouge(compat=True, n=1)", "rouge(n=1, compat=True)"),
        ("rouge(stem=True)", "rouge"),
        ("chrf(beta=3)", "chrf(beta=3.0)"),
        ("chrf(beta=2)", "chrf"),
    ],
)
def test_the_canonical_form_has_fields_in_order_without_defaults(text, canonical):
    assert spec(text) == canonical
    assert spec(canonical) == canonical


@given(any_text)
def test_strings_are_spelled_in_single_quotes_whatever_they_hold(text):
    spelled = format_spec("x", {"a": text})
    assert spelled.startswith("x(a='")
    assert spelled.endswith("')")
    assert parse_spec(spelled) == ("x", (), {"a": text})


@pytest.mark.parametrize("text", ["it's", 'say "hi"', "'\"", "\\", "\\'", "naïve ☃", "\n", ""])
def test_strings_with_quotes_come_back(text):
    assert parse_spec(format_spec("x", {"a": text}))[2] == {"a": text}


@given(names, settings_of_any_kind)
def test_what_is_spelled_is_read_back(name, settings):
    assert parse_spec(format_spec(name, settings)) == (name, (), settings)


def test_a_list_of_specs_is_parted_at_the_commas_between_them():
    text = " bleu,rouge(n=2, stem=False) ,, words,x(a='1, 2'), y(b=[1, 2])"
    assert split_specs(text) == [
        "bleu", "rouge(n=2, stem=False)", "words", "x(a='1, 2')", "y(b=[1, 2])",
    ]  # fmt: skip
    assert split_specs(" , ") == []


@given(st.lists(st.builds(format_spec, names, settings_of_any_kind), max_size=4))
def test_joined_specs_are_parted_again(specs):
    assert split_specs(",".join(specs)) == specs
