"""Quoted speech: the parts of a text between quotation marks."""

from __future__ import annotations

import re

_PAIRS = ("“”", "«»", "「」", "『』", "„“", "‹›")
_CURLY = "|".join(f"{pair[0]}[^{pair}]*{pair[1]}" for pair in _PAIRS)

# Single quotes are apostrophes too: they open a speech only at the beginning of a word and close
# it only after a mark, within a thousand characters.
_SINGLE = r"(?<![\w’'])[‘'](?=\w)(?:[^‘’'\n]|[’'](?=\w)){0,1000}[.,!?…—-][’'](?!\w)"
_SPEECH = re.compile(rf'{_CURLY}|"[^"\n]*(?:"|\n|$)|{_SINGLE}')


def speeches(text: str) -> list[str]:
    """Parts in quotation marks, in order; one left open ends with its paragraph."""
    return _SPEECH.findall(text)
