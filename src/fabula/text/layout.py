"""Layout: what is read of a text however it is set, and where that stands in the text given.

Two people who type the same story set it differently: lines wrapped or not, quotes straight or
curly, a title, Markdown, a note below. A reader that judges stories must not see which.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, get_args

from fabula.text.detokenise import CLOSING_UP, DETOKENISING, LONE_ELLIPSIS, detokenise
from fabula.text.features import paragraphs
from fabula.text.posts import MARKUP, clean_post, find_story_lines, is_note
from fabula.text.sentences import sentence_spans

Span = tuple[int, int]
# given: as it is set, but for the blanks of a tokeniser; cleaned: so, without the notes and mark-up
# of a post; plain: one line, and no dress at all.
Layout = Literal["given", "cleaned", "plain"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

_LINE_END = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_SOFT_HYPHEN = re.compile("\u00ad")
_GUILLEMETS = re.compile(r"(?<=[«‹])\s+|\s+(?=[»›])")
_ELLIPSIS = re.compile(r"…|(?<!\.)\. \. \.(?! ?\.)")
_LONE_QUOTE = re.compile(r'\s*(?<!\S)"(?!\S)\s*')
_BLANKS = re.compile(r"\s+")
_EDGES = re.compile(r"^\s+|\s+$")
_STRAIGHT = str.maketrans(dict.fromkeys("“”„‟«»〝〞", '"') | dict.fromkeys("‘’‚‛‹›′", "'"))
# Speech in single marks ends with a mark of its own: 'No,' he said. An apostrophe does not.
_SINGLE_SPEECH = re.compile(r"(?<![\w'])'(?=[^\W_a-z\d]|\.\.\.)[^\n\"]{1,600}?[,.!?\-—–]'(?!\w)")

_HEADING = re.compile(r"\s*(?:#{1,6}\s*\S|(\*{1,3}|_{1,3})\S.*\S\1\s*$|title\s*:)", re.IGNORECASE)
_BYLINE = re.compile(r"\W*(?:written )?by:? \S", re.IGNORECASE)
_CLOSED = frozenset(".!?…,;:—–-\"'”’*_)]")
_TITLE_WORDS = 10
_BYLINE_WORDS = 6
_LEAST_STORY = 20  # words that must be left below a title
_SMALL_WORDS = 3  # letters of a word that need not be large in a title
_MOST_NOTES = 6  # sentences at the end that may be notes
_KEPT_TEXTS = 4096  # several times the stories that metrics are given at once
_LONGEST_KEPT = 20_000  # characters: whole books would fill the memory


@dataclass(frozen=True)
class PlainText:
    """What is read of a text, and where each of its characters stood: from `starts` to `ends`."""

    text: str
    starts: tuple[int, ...] = field(repr=False)
    ends: tuple[int, ...] = field(repr=False)

    def find_origin(self, start: int, end: int) -> Span:
        """Give where a span of what is read stands in the text given, to the character."""
        if not 0 <= start < end <= len(self.text):
            raise ValueError(f"{start}:{end} is no span of {len(self.text)} characters")
        return self.starts[start], self.ends[end - 1]

    def find_reading(self, start: int, end: int) -> Span | None:
        """Give where a span of the text given is read; None where nothing of it is."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        return (first, last) if first < last else None


def lay_out(text: str, layout: Layout) -> str:
    """Give a text as it is read in a layout.

    Every reader, and what relates a story to its prompt, asks it of the same stories in turn: the
    last ones are remembered.
    """
    return _lay_out(text, layout) if len(text) > _LONGEST_KEPT else _lay_out_once(text, layout)


def _lay_out(text: str, layout: Layout) -> str:
    if layout == "plain":
        return read_plain(text).text
    return detokenise(clean_post(text).text if layout == "cleaned" else text)


_lay_out_once = lru_cache(_KEPT_TEXTS)(_lay_out)


def read_plain(text: str) -> PlainText:
    """Give what a text says in one line, whatever its layout.

    Blanks of a tokeniser, line breaks, indentation, Markdown and the style of quotation marks go;
    so do a title with its author, and notes about the text before and after it. What is left of a
    text that looks like nothing but notes is all of it.
    """
    draft = _Draft(text)
    draft.replace(_LINE_END, "\n")
    for rule in (*CLOSING_UP, *DETOKENISING):
        draft.replace(*rule)
    draft.keep(*_find_body(draft.text))
    for mark in (*MARKUP, (_SOFT_HYPHEN, ""), (_GUILLEMETS, ""), (_ELLIPSIS, "...")):
        draft.replace(*mark)
    draft.replace(LONE_ELLIPSIS, r"\1")
    draft.write_over(_straighten(draft.text))
    draft.replace(_LONE_QUOTE, _Turn(draft.text))
    draft.replace(_BLANKS, " ")
    draft.replace(_EDGES, "")
    draft.keep(0, _find_end(draft.text))
    return draft.finish()


def find_title(text: str) -> Span | None:
    """Give where the title of a text stands, with its author's line; None where it has none.

    A title is a short first line of its own that no mark ends, or that is set as a heading, with
    a story below whose paragraphs do end. Verse and wrapped lines begin with none.
    """
    lines = [line for line in re.finditer(r"[^\n]+", text) if any(map(str.isalnum, line[0]))]
    if len(lines) < 2 or len(lines[0][0].split()) > _TITLE_WORDS:
        return None
    title = lines[0]
    has_author = _BYLINE.match(lines[1][0]) and len(lines[1][0].split()) <= _BYLINE_WORDS
    last = lines[1] if has_author else title
    if len(text[last.end() :].split()) < _LEAST_STORY:
        return None
    is_heading = has_author or _HEADING.match(title[0])
    if not is_heading and not _looks_like_title(title, text[last.end() :]):
        return None
    start, end = (part.end() - len(part[0].lstrip()) for part in (title, last))
    return start, end + len(last[0].strip())


def _looks_like_title(title: re.Match[str], below: str) -> bool:
    line, parts = title[0].strip(), paragraphs(below)
    if line[-1] in _CLOSED or line[0].islower():
        return False
    if sum(part[-1] in _CLOSED for part in parts) < 0.6 * len(parts):
        return False
    if re.match(r"\n\s*\n", title.string[title.end() :]):
        return True
    words = [word for word in line.split() if len(word) > _SMALL_WORDS]
    return bool(words) and not any(word[0].islower() for word in words)


def _find_body(text: str) -> Span:
    """Give where a text stands without its notes and its title; all of it if nothing else is."""
    lines = text.split("\n")
    first, last = find_story_lines(lines)
    if first == last:
        return 0, len(text)
    start = sum(len(line) + 1 for line in lines[:first])
    end = len(text) - sum(len(line) + 1 for line in lines[last:])
    title = find_title(text[start:end])
    return (start + title[1] if title else start), end


def _find_end(text: str) -> int:
    """Give where a text in one line ends before the notes that close it."""
    spans = sentence_spans(text)
    kept = len(spans)
    while kept > max(1, len(spans) - _MOST_NOTES) and is_note(text[slice(*spans[kept - 1])]):
        kept -= 1
    return spans[kept - 1][1] if kept < len(spans) else len(text)


def _straighten(text: str) -> str:
    """Write quotation marks straight, and speech in double ones where no other mark is."""
    straight = text.translate(_STRAIGHT)
    if '"' in straight:
        return straight
    return _SINGLE_SPEECH.sub(lambda speech: f'"{speech[0][1:-1]}"', straight)


class _Turn:
    """Writes quotation marks between blanks so that they open and close in turn.

    Of an odd number the last stays, for nobody can tell which way it looks.
    """

    def __init__(self, text: str) -> None:
        self._left = len(_LONE_QUOTE.findall(text)) // 2 * 2
        self._is_open = False

    def __call__(self, mark: re.Match[str]) -> str:
        if not self._left:
            return mark[0]
        self._left -= 1
        self._is_open = not self._is_open
        return mark[0].rstrip() if self._is_open else mark[0].lstrip()


class _Draft:
    """A text under change, with the span of the text given that each character comes of."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = list(range(len(text)))
        self._ends = list(range(1, len(text) + 1))

    def replace(self, pattern: re.Pattern[str], new: str | Callable[[re.Match[str]], str]) -> None:
        """Do as `pattern.sub(new, text)` does."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        place = 0
        # A template is parsed at every expansion: most hold nothing to expand.
        is_plain = isinstance(new, str) and "\\" not in new
        for match in pattern.finditer(self.text):
            if is_plain:
                written = str(new)
            else:
                written = match.expand(new) if isinstance(new, str) else new(match)
            if written == match[0]:  # as most blanks are
                continue
            parts += [self.text[place : match.start()], written]
            starts += self._starts[place : match.start()]
            ends += self._ends[place : match.start()]
            self._trace(match, written, starts, ends)
            place = match.end()
        if parts:
            self.text = "".join([*parts, self.text[place:]])
            self._starts = starts + self._starts[place:]
            self._ends = ends + self._ends[place:]

    def _trace(
        self, match: re.Match[str], written: str, starts: list[int], ends: list[int]
    ) -> None:
        """Add where the characters of what was written for a match come from.

        Characters that it begins or ends with as before are themselves; what is new in the middle
        comes of all that is gone there.
        """
        old, begin = match[0], match.start()
        whole = old.find(written)
        head = len(written) if whole >= 0 else _count_common(old, written)
        if whole >= 0:
            begin += whole
        tail = 0 if whole >= 0 else _count_common(old[head:][::-1], written[head:][::-1])
        starts += self._starts[begin : begin + head]
        ends += self._ends[begin : begin + head]
        if fresh := len(written) - head - tail:
            gone = slice(begin + head, max(match.end() - tail, begin + head + 1))
            starts += [self._starts[gone][0]] * fresh
            ends += [self._ends[gone][-1]] * fresh
        starts += self._starts[match.end() - tail : match.end()]
        ends += self._ends[match.end() - tail : match.end()]

    def write_over(self, text: str) -> None:
        """Write another character for each."""
        assert len(text) == len(self.text)
        self.text = text

    def keep(self, start: int, end: int) -> None:
        """Drop what stands outside a span."""
        self.text = self.text[start:end]
        self._starts, self._ends = self._starts[start:end], self._ends[start:end]

    def finish(self) -> PlainText:
        """Give the text as it is now."""
        return PlainText(self.text, tuple(self._starts), tuple(self._ends))


def _count_common(one: str, other: str) -> int:
    """Count the characters that two texts begin with alike."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
