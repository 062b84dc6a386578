"""Values by hand, after ECMA-48 (controls), UAX 9 (bidi), OWASP (CSV) and XML 1.0, section 2.2."""

from __future__ import annotations

import json
import xml.etree.ElementTree as tree

import pytest

from fabula.text.escapes import (
    TerminalText,
    comment_text,
    csv_text,
    latex_text,
    line_text,
    markdown_cell,
    markdown_text,
    stand_in,
    terminal_text,
    xml_text,
)

RED = "\x1b[31mred\x1b[0m"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (RED, r"\x1b[31mred\x1b[0m"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\u009b31m"),
        ("a\rb\x08c\x7f", r"a\rb\x08c\u007f"),
        ("\u202eback\u202c \u2066x\u2069", r"\u202eback\u202c \u2066x\u2069"),
        ("one\u2028two\u2029", r"one\u2028two\u2029"),
        ("\udcff", r"\udcff"),
        ("two\nlines\tand é 🦊 日本 \u200d", "two\nlines\tand é 🦊 日本 \u200d"),
    ],
)
def test_what_a_terminal_would_obey_is_seen_instead(text: str, shown: str) -> None:
    assert terminal_text(text) == shown


def test_what_was_cleaned_keeps_its_colours() -> None:
    ours = TerminalText("\x1b[1mbold\x1b[0m")
    assert terminal_text(ours) is ours


@pytest.mark.parametrize("char", ["\x7f", "\x85", "\x9b", "\u2028", "\u202e", "\u2069"])
def test_json_means_the_same_after_cleaning(char: str) -> None:
    value = {"text": f"a{char}b\x1b\n"}
    cleaned = terminal_text(json.dumps(value, ensure_ascii=False))
    assert char not in cleaned and "\x1b" not in cleaned
    assert json.loads(cleaned) == value


def test_a_name_stands_on_one_line() -> None:
    assert line_text("a\nb\tc\rd\u2028") == r"a\nb\tc\rd\u2028"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_no_line_of_latex_or_markdown_begins_inside_a_text(end: str) -> None:
    text = rf"a{end}\input{{x}}"
    assert latex_text(text) == r"a \textbackslash{}input\{x\}"
    assert comment_text(text) == r"a \input{x}"
    assert len(markdown_text(text).splitlines()) == 1
    assert len(markdown_cell(text).splitlines()) == 1


def test_latex_prints_controls_as_what_they_are() -> None:
    assert latex_text("\x1b[31m ^^M") == (
        r"\textbackslash{}x1b[31m \textasciicircum{}\textasciicircum{}M"
    )


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "＝"])
def test_no_cell_of_csv_is_a_formula(begin: str) -> None:
    assert csv_text(f"{begin}cmd|'/c calc'!A1").startswith("'")


@pytest.mark.parametrize("text", ["-1.5", "+3", "1e-5", "-inf", "a=b", "", "–", "−2", "rouge f"])
def test_numbers_and_plain_words_stay_in_csv(text: str) -> None:
    assert csv_text(text) == text


def test_controls_are_seen_in_csv() -> None:
    assert csv_text(RED) == r"\x1b[31mred\x1b[0m"


def test_markdown_shows_marks_and_elements_as_letters() -> None:
    assert markdown_text("<b>*a*</b> [x](y) `c`|d") == (r"\<b\>\*a\*\</b\> \[x\]\(y\) \`c\`\|d")
    assert markdown_cell("`a|b`\n*c*") == r"`a\|b` *c*"


def test_xml_can_be_read_whatever_a_text_holds() -> None:
    text = "".join(map(chr, range(0x20))) + "\ud800\ufffe\uffff é 🦊"
    assert tree.fromstring(f"<a>{xml_text(text)}</a>").text
    assert xml_text("a\tb\nc\x1b") == "a\tb\nc\ufffd"


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        ("↑ ↓ – ─ −1 × …", "ascii", "^ v - - -1 x ..."),
        ("café, naïve, Łódź, “so”", "ascii", 'cafe, naive, Lodz, "so"'),
        ("café ↑ 日本 🦊", "latin-1", "café ^ ?? ?"),
        ("e\u0301 \ufb01n \u200bx", "ascii", "e fin x"),
        ("plain", "ascii", "plain"),
    ],
)
def test_a_terminal_without_a_letter_gets_the_nearest(text: str, encoding: str, shown: str) -> None:
    assert stand_in(text, encoding) == shown
