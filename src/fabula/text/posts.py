"""Posts: stories as people put them on a forum, with mark-up, signatures and notes around them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass

from fabula.text.sentences import speeches

# How StoryER's models are given the end of a line.
NEWLINE_TAG = " <\\newline> "

_NEWLINE = re.compile(r"\r\n?|\u2028|\u2029|<(?:\\?newline|br ?/?)>", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" ?\n[ \n]*")

_AMPERSAND = re.compile(r"&(?:amp;)+", re.IGNORECASE)
_ENTITY = re.compile(r"&(?!#0*38;|#x0*26;)(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});", re.IGNORECASE)
_UNSEEN = re.compile("[\u200b\ufeff]")
_ESCAPE = re.compile(r"\\([^\w\s<])")
_WEB = r"(?:https?: ?//|www\.)"
_TARGET = rf" ?\((?: ?{_WEB}[^()\n]*(?:\([^()\n]*\)[^()\n]*)?|/[^()\s]*)\)"
_LINK = re.compile(rf"\[([^\[\]\n]*)\]{_TARGET}")
_RULE = re.compile(r"^(?=[. ]*+[-=~*_#+•·—–\\/|])[-=~*_#+•·—–\\/|. ]++$", re.MULTILINE)
_HEAD = re.compile(r"^(?:>(?!!) ?|#{1,6} *(?![\d#]))+", re.MULTILINE)
# Stars and bars within a word are no emphasis: f*ck, user_name.
_EMPHASIS = re.compile(
    r"(?<![^\W_])(?<![*_])[*_]++|(?<![*_])[*_]++(?![^\W_])"
    r"|(?<![^\W_])\^++(?=\w)|~~++|>!++(?=\S)|(?<=\S)!<++(?!\S)"
)

# In this order: what Markdown and HTML entities add to a text.
MARKUP: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_AMPERSAND, "&"),
    (_ENTITY, lambda entity: html.unescape(entity[0])),
    (_UNSEEN, ""),
    (_ESCAPE, r"\1"),
    (_LINK, r"\1"),
    (_RULE, ""),
    (_HEAD, ""),
    (_EMPHASIS, ""),
)

_MOST_WORDS = 80
_MOST_CHARACTERS = 1_000


@dataclass(frozen=True)
class Cleaned:
    """A story without the notes around it, the lines that were dropped, and a warning if any."""

    text: str
    removed: tuple[str, ...] = ()
    warning: str = ""


def normalise_post(text: str, *, newline: str = "\n") -> str:
    r"""Make tabs and runs of blanks one blank, and line ends, `<br>` and `<\newline>` one line end.

    With `newline=NEWLINE_TAG` it is what StoryER's models read.
    """
    text = _BLANKS.sub(" ", _NEWLINE.sub("\n", text))
    return _LINE_ENDS.sub("\n", text).strip().replace("\n", newline)


def strip_markup(text: str) -> str:
    """Drop what Markdown and HTML entities add to a text: emphasis, rules, headings, targets."""
    for pattern, new in MARKUP:
        text = pattern.sub(new, text)
    return normalise_post(text)


def clean_post(text: str) -> Cleaned:
    """Drop the lines before and after a story that are about the post, and all mark-up.

    Such lines are edits, signatures, links, thanks, pleas for comments, announcements of a next
    part. Readers vote for posts that carry them, so that a model of their votes would learn to
    look for them. Nothing within the story changes but its mark-up; cleaning again changes
    nothing more.
    """
    removed: tuple[str, ...] = ()
    while True:
        lines = normalise_post(text).split("\n")
        first, last = find_story_lines(lines)
        if first == last:
            warning = "all that is left looks like notes about the post; it was kept"
            cleaned = Cleaned(strip_markup(text), removed, warning * _has_words(text))
        else:
            dropped = [line for line in (*lines[:first], *lines[last:]) if _has_words(line)]
            removed = (*removed, *dropped)
            cleaned = Cleaned(strip_markup("\n".join(lines[first:last])), removed)
        if cleaned.text == text:
            return cleaned
        text = cleaned.text


def is_note(line: str) -> bool:
    """Whether a line is about the post rather than of the story."""
    plain = strip_markup(line)
    if len(plain) > _MOST_CHARACTERS or len(plain.split()) > _MOST_WORDS:
        return False
    told = _strip_speech(plain)
    return bool(_LINKED.search(line) or _SIGNED.search(told) or _ASIDE.search(told))


def find_story_lines(lines: list[str]) -> tuple[int, int]:
    """Give where the story begins and ends among its lines; the same place if all are notes."""
    first, last = 0, len(lines)
    while first < last and (is_note(lines[first]) or not _has_words(lines[first])):
        first += 1
    while first < last and (is_note(lines[last - 1]) or not _has_words(lines[last - 1])):
        last -= 1
    return first, last


def _strip_speech(line: str) -> str:
    """Give a line without what is said in it."""
    for speech in speeches(line):
        line = line.replace(speech, ' " ', 1)
    return line.replace("’", "'").strip()


def _has_words(line: str) -> bool:
    return any(map(str.isalnum, strip_markup(line)))


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_OPINION = r"(?:feedback|critici[sz]\w*|critiques?|crits?)"
_NUMBER = r"(?:\d+|one|two|three|four|i{1,3}|iv)"
_NTH = r"(?:first|second|third|fourth|fifth|1st|2nd|3rd|\d+th)"
_WORK = (
    r"(?:stor(?:y|ies)|work|writings?|stuff|pieces|content|tales|prompts|responses|subreddit|sub)"
)
_GIFT = r"(?:prompt|gold|silver|platinum|awards?|upvotes?|support|kind words|comments?|feedback)"

_CREDIT = r"(?:thanks|thank you|credits?|inspired|prompts?|comments?|stor(?:y|ies)|wants)"
_ADVERT = (
    r"(?:more|check\w*|visit|subscri\w+|stor(?:y|ies)|writ\w+|read|follow|sub(?:reddit)?|prompts?"
    r"|find|over (?:at|to|on)|join|library)"
)

_LINKED = _any_of(
    rf"^\W*\[(?! ?[\"“`'])[^\[\]\n]*\]{_TARGET}\W*$",
    r"\] ?\( ?[^()]*/comments/",
    r"\[[^\[\]\n]*\b(?:my|here|part|profile|patreon|page|blog)\b[^\[\]\n]*\] ?\( ?http",
)
_SIGNED = _any_of(
    rf"\b{_WEB}",
    r"^\W*(?:by )?/?u/[\w-]{3,}\W*$",
    rf"\b{_CREDIT}\b.*(?<![\w/.])/?u/\w{{3,}}|(?<![\w/.])/?u/\w{{3,}}.*\b{_CREDIT}\b",
    r"^(?:\S+ ){0,14}\W*\br/\w{3,}\W*$|^\W*\br/\w{3,}\W*(?: \S+){0,14}$",
    rf"\b{_ADVERT}\b.*(?<![\w.])\br/\w{{3,}}|(?<![\w.])\br/\w{{3,}}.*\b{_ADVERT}\b",
    r"^\W*edits?\b",
    r"^\W*edited (?:for|to|because|due|in)\b",
    r"^\W*(?:a/n|an|author'?s? notes?|(?:trigger|content) warnings?|disclaimer|tl;?dr)\s*[:.–—-]",
    r"^\W*\[ ?(?:wp|eu|pi|sp|cw|rf|tt|ip|mp|ot|cc|poem|poetry) ?\]",
)
_ASIDE = _any_of(
    rf"\bthank(?:s| you)\b.{{0,30}}\bfor (?:reading|the read\b|(?:the|all the|my|your) {_GIFT})",
    r"^\W*thanks again\W*$",
    r"\bhope (?:you|y'all|everyone|someone|it).{0,15}\benjoy(?:ed|s|able)?\b"
    r"(?! (?:your|the (?!(?:\w+ )?story)))",
    r"\bif you(?:'ve)? (?:like|enjoy)(?:d|ed)? (?:this|my|the story|what)\b",
    rf"\bconstructive {_OPINION}",
    rf"\b{_OPINION}\b.{{0,30}}\b(?:welcomed?|appreciated|please|encouraged|wanted)\b",
    rf"\b(?:appreciate|please|thrive on|leave|free to|give me|open to)\b.{{0,30}}\b{_OPINION}\b",
    rf"\b(?:love|welcome|like)\b.{{0,12}}\b(?:any|some|all)\b.{{0,12}}\b{_OPINION}\b",
    r"\breviews?\b.{0,20}\b(?:from you|appreciated|welcome)\b",
    r"\blet me know (?:what (?:you|y'all) (?:guys )?(?:think|thought|like)|(?:of )?your thoughts"
    r"|if you(?:'d| would)? (?:like|want|enjoy)(?:ed)? (?:it|this|more|me to|a part|the rest)"
    r"|how i did|in the comments)",
    rf"\bmy (?:very )?{_NTH}(?: \w+)? (?:post|prompt|response|submission|attempt at|try at)\b",
    rf"\bmy (?:very )?{_NTH}(?: \w+)? (?:story|time)(?: \w+)?"
    r" (?:here|ever|posting|writing|doing this|on this|submi\w+)",
    r"\bthis (?:is|was) my first (?:time|story|try|attempt)\W*$",
    r"^\W*first (?:post|prompt|response|submission|attempt at|try at|time (?:post|writ|here))",
    r"^\W*(?:so |very |my )?(?:sorry|apologies)\b.{0,60}\b(?:this|grammar|grammatical|format\w*"
    r"|typos?|english|mobile|story|post|late|length|errors?|mistakes|writing|spelling|ending)\b",
    r"\bformatting\b|\btypos?\b",
    r"\b(?:forgive|excuse|apologi[sz]e)\b.{0,40}\b(?:grammar|spelling|english|mistakes|errors)\b",
    r"\b(?:english|it)(?: is|'s|isn't| is not)* ?(?:not )?my (?:first|native|second) language",
    rf"^\W*(?:part|pt)\.? ?\W?{_NUMBER}\b(?:\W*(?:of|/)? ?\d+)?\W*$",
    rf"\b(?:part|pt\.?) {_NUMBER}\b.{{0,30}}\b(?:soon|later|tomorrow|below|comment|repl|coming)",
    rf"\bhere(?:'s| is) (?:the )?(?:part|pt\.?) {_NUMBER}\b",
    r"\b(?:write|do|post|working on|want) (?:another|an?)(?: second)? (?:part|sequel)\b",
    rf"\b(?:work(?:ing)? on|writing) part {_NUMBER}|\bcontinued in (?:the )?(?:comment|repl)",
    r"^\W*(?:to be continued|tbc)\b",
    r"^\W*(?:i'?ll |i will |will )?(?:finish|continue)(?: (?:this|it|writing))? later\b",
    r"\bwriting the rest\b|\bshould i (?:keep going|continue|write more)\b",
    r"\b(?:does|do|would|if) any(?:one|body) wants?.{0,40}\b(?:more|continue|expand|part|rest)\b",
    r"\bif there(?:'s| is)(?: enough)? (?:interest|demand)",
    rf"\b(?:find|for|read|see) more (?:of my )?{_WORK}\b.{{0,20}}\b(?:at|on|by me|here|like)\b",
    rf"\bmore {_WORK} (?:are )?(?:in|at|on) my\b",
    rf"\b(?:check|checking) out (?:more |some )?(?:of )?my (?:other )?(?:profile|page|{_WORK})",
    r"\b(?:my|this) (?:own |personal |new |writing )*(?:subreddit|sub)\b|\bmy patreon\b",
    r"\bsubscribe to\b.{0,30}\bmore\b",
    r"\bwriting ?prompts?\b|\bprompts? (?:i (?:posted|saw)|inspired|gave me|reminded me)\b",
    r"\b(?:nice|great|fun|cool|love|loved|awesome|amazing|interesting|your|this) (?:\w+ )?prompt\b",
    r"\b(?:up|down)vot(?:e|ed|es|ing)\b|\bkind stranger\b",
    r"^\W*(?:word ?count|wc)\b\W*\d|^\W*~?\d[\d,]* words\W*$",
    r"\bnot my best(?: work| story| writing)?\b|\b(?:first|please)\b.{0,30}\bbe (?:nice|gentle)\b",
    r"\b(?:back into|new to|practi[cs]e my) writing\b|\bwriting exercise\b|\bhaven't written\b",
    r"\bwrote this (?:quickly|at work|on (?:mobile|my phone)|in (?:\d+|ten|twenty|an hour|half))\b",
    r"\bon mobile\b",
)
