"""What a text may hold where it is shown: a function each for terminals, LaTeX, CSV, Markdown, XML.

Stories, ids and names of systems come from anywhere. None of them moves a cursor, turns a line
around, starts a command of LaTeX or a formula of a spreadsheet, or breaks a page.
"""

from __future__ import annotations

import re

# Controls but line feed and tab, line and paragraph separators, what turns the direction of
# writing around, and halves of characters.
_UNSEEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROLS = re.compile(f"[{_UNSEEN}]")
# Compiled when they are first used: every command waits for this module.
_LINE_ENDS = r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]"
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# What XML 1.0 has no way to write, not even as a reference.
_NO_XML = "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
# OWASP: a cell that begins so may be run as a formula.
_FORMULA = r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]"
_MARKDOWN = r"([\\`*_{}\[\]()<>#+!|~&-])"
_LATEX = {char: rf"\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "−": "$-$", "+": "$+$", "<": "$<$",
    ">": "$>$", "|": "$|$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "°": r"$^\circ$",
    "▼": r"$\blacktriangledown$", "▲": r"$\blacktriangle$",
}  # fmt: skip
# Signs of ours in letters that every terminal has, as wide as they are wherever tables hold them.
_STAND_INS = {
    "─": "-", "━": "=", "│": "|", "┃": "|", "╸": "=", "╺": "-", "╴": "-", "╶": "-", "┼": "+",
    "↑": "^", "↓": "v", "←": "<", "→": ">", "▲": "^", "▼": "v", "△": "^", "●": "o", "○": "o",
    "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "·": ".", "•": "*", "×": "x", "°": "o",
    "…": "...", "±": "+/-", "≤": "<=", "≥": ">=", "≠": "!=", "∞": "inf", "€": "EUR", "§": "S.",
    "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "ß": "ss", "æ": "ae",
    "Æ": "AE", "ø": "o", "Ø": "O", "œ": "oe", "Œ": "OE", "ł": "l", "Ł": "L", "ρ": "rho",
    "τ": "tau", "α": "alpha", "β": "beta", "κ": "kappa", "Δ": "delta", "Σ": "sum", "√": "sqrt",
    "█": "#", "▇": "#", "▆": "#", "▅": "=", "▄": "=", "▃": "-", "▂": "_", "▁": "_", "░": ".",
    "▒": ":", "▓": "#", "✓": "+", "✔": "+", "✗": "x", "✘": "x", "\ufffd": "?",
}  # fmt: skip


class TerminalText(str):
    """A text that may go to a terminal as it is: cleaned already, with colours of ours at most."""


def terminal_text(text: str) -> TerminalText:
    r"""Write what a terminal would obey as escapes that can be seen: \x1b, \u202e.

    Line feeds and tabs stay. Beyond ASCII an escape is as JSON writes it, so that JSON keeps its
    meaning: it never holds the controls below.
    """
    if isinstance(text, TerminalText):
        return text
    return TerminalText(_CONTROLS.sub(lambda found: _escape(found[0]), text))


def line_text(text: str) -> str:
    r"""Write a text on one line, its line ends and tabs as escapes: a name, a cell, a label."""
    return terminal_text(re.sub("[\n\t\r]", lambda found: _NAMED[found[0]], text))


def _escape(char: str) -> str:
    return _NAMED.get(char) or (rf"\x{ord(char):02x}" if char < "\x7f" else rf"\u{ord(char):04x}")


def stand_in(text: str, encoding: str = "ascii") -> str:
    """Write what an encoding has not in letters that it has: an arrow as ^, é as e, else ?."""
    return "".join(char if _is_in(char, encoding) else _plain(char) for char in text)


def _is_in(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _plain(char: str) -> str:
    if char in _STAND_INS:
        return _STAND_INS[char]
    import unicodedata

    letters = "".join(
        part for part in unicodedata.normalize("NFKD", char) if not unicodedata.combining(part)
    )
    if unicodedata.combining(char) or unicodedata.category(char) == "Cf":
        return ""
    return letters if letters.isascii() and letters else "?"


def latex_text(text: str) -> str:
    """Write text so that LaTeX prints it as it is, on one line."""
    return "".join(_LATEX.get(char, char) for char in comment_text(text))


def comment_text(text: str) -> str:
    """Write text on one line with blanks for line ends, as a comment of LaTeX needs it."""
    return terminal_text(re.sub(_LINE_ENDS, " ", text).replace("\t", " "))


def csv_text(text: str) -> str:
    """Write a text so that no spreadsheet runs it: what begins like a formula gets an apostrophe.

    Numbers written as text stay numbers; line feeds stay, which CSV holds in quotes.
    """
    is_formula = re.match(_FORMULA, text) and not _is_number(text)
    return terminal_text(f"'{text}" if is_formula else text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def markdown_text(text: str) -> str:
    """Write text so that Markdown shows it as it is, on one line: no mark, no link, no element."""
    return re.sub(_MARKDOWN, r"\\\1", comment_text(text))


def markdown_cell(text: str) -> str:
    """Keep Markdown inside a cell of its table: one line, and no bar that ends it."""
    return comment_text(text).replace("|", r"\|")


def xml_text(text: str) -> str:
    """Write � for what XML cannot hold, so that a page or a figure can be opened."""
    return re.sub(_NO_XML, "\ufffd", text)
