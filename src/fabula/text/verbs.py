"""English verbs by simple rules: the plain form of a past or a third person."""

from __future__ import annotations

import re

_IRREGULAR = """
ate:eat became:become began:begin bent:bend bit:bite blew:blow bought:buy broke:break brought:bring
built:build came:come caught:catch chose:choose crept:creep dealt:deal did:do drank:drink drew:draw
drove:drive dug:dig fed:feed fell:fall felt:feel flew:fly forgot:forget fought:fight found:find
froze:freeze gave:give got:get grew:grow had:have heard:hear held:hold hid:hide hung:hang kept:keep
knelt:kneel knew:know laid:lay lay:lie leapt:leap led:lead left:leave lent:lend lit:light lost:lose
made:make meant:mean met:meet paid:pay ran:run rang:ring rode:ride rose:rise said:say sang:sing
sank:sink sat:sit saw:see sent:send shone:shine shook:shake shot:shoot slept:sleep slid:slide
sold:sell spent:spend spoke:speak spun:spin stole:steal stood:stand struck:strike stuck:stick
swam:swim swept:sweep swore:swear taught:teach thought:think threw:throw told:tell took:take
tore:tear understood:understand went:go wept:weep woke:wake won:win wore:wear wrote:write
tasted:taste wasted:waste pasted:paste breathed:breathe bathed:bathe longed:long hanged:hang
banged:bang belonged:belong tied:tie died:die lied:lie skied:ski created:create completed:complete
excited:excite guided:guide ignored:ignore invited:invite labelled:label levelled:level
murmured:murmur owed:owe signalled:signal soothed:soothe travelled:travel united:unite
welcomed:welcome
""".split()
PASTS = dict(pair.split(":") for pair in _IRREGULAR)
_REGULAR = "want need like love hate hope believe remember wonder live look call ask try".split()
_PLAIN = frozenset([*PASTS.values(), *_REGULAR]) - {"lie", "light", "long", "tie"}

# Words on -ed and -s that are no such forms.
_NO_PASTS = frozenset(
    "need feed seed speed indeed bed red shed sped bleed breed greed weed deed hundred naked "
    "wicked sacred kindred beloved aged rugged ragged embed".split()
)
_NO_THIRDS = frozenset(
    "always perhaps sometimes this its his yes is was as us thus less besides towards "
    "afterwards upwards downwards nonetheless nevertheless across".split()
)
_DOUBLED = re.compile(r"([bdgmnprt])\1$")
_VOWELS = "aeiouy"
_NEEDS_E = re.compile(
    r"[vcue]$|[^z]z$|iat$|[aeiourn]s$|[aeiou]ps$|[dr]g$|[^n]ng$|(?:an|in|un)g$|[^aeiourwl]l$"
    r"|(?:^|[^aeiou])(?:at|id|ir|ar|in|ut|ok|ap|ik|im|ib)$"
)
_NO_E = re.compile(r"(?:er|en|on|it|et|el|al|or|ow|om|op|ay|oy|ey|ix|ax|ox|is?h)$")


def plain_of_past(word: str) -> str | None:
    """Plain form of a past (walked, went), or None where the word is none."""
    lowered = word.lower()
    if lowered in PASTS:
        return PASTS[lowered]
    if lowered in _NO_PASTS or not re.fullmatch(r"[a-z]{2,}ed", lowered):
        return None
    stem = lowered[:-2]
    if not any(vowel in stem for vowel in _VOWELS):
        return None
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if _DOUBLED.search(stem):
        return stem if stem in ("add", "err", "purr") else stem[:-1]
    return stem + "e" if _wants_e(stem) else stem


def is_plain(word: str) -> bool:
    """Whether a word is the plain form of a frequent verb."""
    return word in _PLAIN


def plain_of_third(word: str) -> str | None:
    """Plain form of a third person (walks, carries), or None where the word is none."""
    lowered = word.lower()
    if lowered == "has":
        return "have"
    if lowered in _NO_THIRDS or not re.fullmatch(r"[a-z]{2,}s", lowered) or lowered[-2] == "s":
        return None
    if lowered.endswith("ies"):
        return lowered[:-3] + ("ie" if len(lowered) == 4 else "y")
    if re.search(r"(?:ch|sh|ss|x|zz|o)es$", lowered):
        return lowered[:-2]
    return lowered[:-1]


def _wants_e(stem: str) -> bool:
    """Whether -ed stands for -e and -d: as in hoped, decided, danced; not in opened or looked."""
    if _NEEDS_E.search(stem):
        return True
    vowels = re.findall(r"[aeiouy]+", stem)
    short = bool(re.search(r"(?:^|[^aeiou])[aeiouy][^aeiouywx]$", stem))
    return short and (len(vowels) == 1 or not _NO_E.search(stem))
