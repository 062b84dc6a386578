"""What a co-author is shown of a story: the segments of a move in a game, or of a prompt.

The order is that of STORIUM's co-author: character, the scene's opening, the entries before, the
challenge and the cards played on it, and then the text so far. What is missing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from fabula.core.author import Context, Segment
from fabula.core.errors import InputError
from fabula.core.plain import from_plain

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Share:
    """The tokens that a kind of segment asks for at least, and how late it gives way."""

    minimum: int
    priority: int


# Akoury et al. (2020), figure 3. The entry itself is no segment: it is the text of the context.
SHARES = {
    "intro": Share(50, 1),
    "character": Share(50, 2),
    "challenge": Share(30, 3),
    "card": Share(20, 4),
    "previous": Share(100, 5),
    "entry": Share(250, 6),
}
PROMPT = Share(100, 5)
# An entry that lies farther back is marked as one that does not.
_FARTHEST = 8
_STAKES = (("success_stakes", "If it goes well"), ("failure_stakes", "If it goes badly"))


def find_entry_share(strongest: Literal["first", "last"]) -> Share:
    """What the text itself asks for, whichever end of the paper's priorities is the strongest."""
    share = SHARES["entry"]
    return share if strongest == "last" else Share(share.minimum, 1)


def prompt_context(prompt: str, text: str = "", *, story: str) -> Context:
    """Show a prompt, and the text that is written on."""
    segment = Segment("prompt", prompt, minimum=PROMPT.minimum, priority=PROMPT.priority)
    return Context(story, (segment,) if prompt.strip() else (), text)


def storium_context(
    game_json: Json,
    entry_json: Json,
    *,
    story: str,
    history: int = 1,
    scene: int | None = None,
    compat: bool = False,
    strongest: Literal["first", "last"] = "last",
) -> Context:
    """Show a game to who writes an entry of it.

    `history` is how many of the entries before are shown; the last of them is the one right before
    it, and where that is another character's, the character's own last one is shown as well.
    An entry that the game holds is seen by its `seq_id`; a new one stands at the end of the last
    scene, or of the one whose place among the game's scenes `scene` tells.
    `strongest` says which end of the paper's priorities gives way last, for the paper does not.
    `compat` shows what was released: the entry right before left out, none of other scenes, the
    cards of an entry instead of its text.
    """
    where = _Place.find(game_json, entry_json, scene)
    character = _character_id(entry_json)
    segments = [
        *_show_character(game_json, character),
        *_show_intro(where.opening, compat=compat),
        *_show_history(game_json, where, character, history=history, compat=compat),
        *_show_cards(entry_json),
    ]
    if strongest == "first":
        top = 1 + max(share.priority for share in SHARES.values())
        segments = [_change_priority(each, top - each.priority) for each in segments]
    text = entry_json.get("description") or ""
    game, entry = dict(game_json), dict(entry_json)
    return Context(story, tuple(segments), text, game=game, entry=entry, scene=scene)


@dataclass(frozen=True)
class _Place:
    """What stands before an entry: all of the game, and of its own scene with its opening."""

    before: tuple[Json, ...]
    in_scene: tuple[Json, ...]
    opening: Json | None

    @classmethod
    def find(cls, game: Json, entry: Json, scene: int | None) -> _Place:
        scenes = [_dicts(one.get("entries")) for one in _dicts(game.get("scenes"))]
        number = entry.get("seq_id")
        holders = [
            (at, place)
            for at, entries in enumerate(scenes)
            for place, each in enumerate(entries)
            if number is not None and each.get("seq_id") == number
        ]
        if holders and scene is None:
            at, place = holders[0]
        else:
            at = len(scenes) - 1 if scene is None else scene
            place = len(scenes[at]) if 0 <= at < len(scenes) else 0
        in_scene = scenes[at][:place] if 0 <= at < len(scenes) else []
        before = [each for entries in scenes[: max(at, 0)] for each in entries] + in_scene
        opening = next((each for each in in_scene if _is_opening(each)), None)
        return cls(tuple(before), tuple(in_scene), opening)


def _dicts(value: Any) -> list[Json]:
    """What is an object in a list of somebody else's JSON."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _is_opening(entry: Json) -> bool:
    return entry.get("format") == "establishment"


def _character_id(entry: Json) -> str | None:
    """The character of an entry; None is the narrator."""
    kind, _, number = str(entry.get("role") or "").partition(":")
    if kind == "character" and number:
        return number
    given = entry.get("character_seq_id")
    return None if kind == "narrator" or given is None else str(given)


def _find_name(game: Json, character: str | None) -> tuple[str, str]:
    for each in _dicts(game.get("characters")):
        if character is not None and str(each.get("character_seq_id")) == character:
            return str(each.get("name") or ""), str(each.get("description") or "")
    return "", ""


def _show_character(game: Json, character: str | None) -> Iterator[Segment]:
    name, description = _find_name(game, character)
    if name or description:
        yield _segment("character", "character", name, description)


def _show_intro(opening: Json | None, *, compat: bool) -> Iterator[Segment]:
    """The scene's opening: its place, and, but for `compat`, how the narrator begins it."""
    if opening is None:
        return
    place = opening.get("place_card")
    name, said = _read_card(place) if isinstance(place, Mapping) else ("", "")
    text = str(opening.get("description") or "")
    if compat and (name or said):
        text = ""
    told = "\n".join(part for part in (said, text) if part.strip())
    if name or told:
        yield _segment("intro", "intro", name, told, keep="start" if name or said else "end")


def _show_history(
    game: Json, where: _Place, character: str | None, *, history: int, compat: bool
) -> Iterator[Segment]:
    """Entries before, oldest first; the opening of the scene has been shown already."""
    if compat:
        # The release takes entries idx - 1 - h to idx - 2 of the scene.
        told = [each for each in where.in_scene if not _is_opening(each)]
        last = max(0, len(where.in_scene) - 1)
        shown = list(where.in_scene[max(0, last - history) : last])
        shown = [each for each in shown if not _is_opening(each)]
    else:
        told = [e for e in where.before if e is not where.opening and _summarise(e, compat=False)]
        shown = told[len(told) - history :] if 0 < history <= len(told) else told[: max(0, history)]
        own = [e for e in told if character is not None and _character_id(e) == character]
        if shown and own and _character_id(shown[-1]) != character and own[-1] not in shown:
            shown = [own[-1], *shown]
    for entry in shown:
        text = _summarise(entry, compat=compat)
        author = _character_id(entry)
        name = "Narrator" if author is None else _find_name(game, author)[0]
        if text:
            marks = _mark_previous(len(told) - told.index(entry), author, character)
            yield _segment("previous", "previous", name, text, keep="end", marks=marks)


def _mark_previous(distance: int, author: str | None, character: str | None) -> tuple[str, ...]:
    """Mark an entry by how far back it lies, as often as that, and by who wrote it."""
    whose = "same_character" if author == character else "diff_character"
    return ("previous",) * min(distance, _FARTHEST) + ("narrator" if author is None else whose,)


def _summarise(entry: Json, *, compat: bool) -> str:
    """An entry as those after it see it: its text, or its cards where there is none (`compat`:
    the cards of its format, and its text only where there are none)."""
    text = str(entry.get("description") or "").strip()
    cards = "\n".join(
        ": ".join(part for part in _read_card(card) if part) for card in _cards_of(entry)
    ).strip()
    return (cards or text) if compat else (text or cards)


def _cards_of(entry: Json) -> Sequence[Json]:
    """The cards that tell what an entry is about, by its format."""
    if entry.get("format") == "establishment":
        return _dicts([entry.get("place_card")])
    if entry.get("format") == "addition":
        return _dicts(entry.get("challenge_cards"))
    if entry.get("format") == "move":
        return _dicts([entry.get("target_challenge_card"), *_played(entry)])
    return []


def _played(entry: Json) -> list[Json]:
    return _dicts(entry.get("cards_played_on_challenge"))


def _show_cards(entry: Json) -> Iterator[Segment]:
    """The challenge, and the cards that are played on it; a card's namespace is its kind."""
    challenge = entry.get("target_challenge_card")
    own = [challenge] if isinstance(challenge, Mapping) else _dicts(entry.get("challenge_cards"))
    for card in own:
        name, said = _read_card(card)
        if name or said:
            yield _segment("challenge", "challenge", name, said)
    for card in _played(entry):
        name, said = _read_card(card)
        if name or said:
            yield _segment(str(card.get("namespace") or "card"), "card", name, said)


def _read_card(card: Json) -> tuple[str, str]:
    """Name of a card, and what it says with its stakes."""
    parts = [str(card.get("description") or "").strip()]
    parts += [f"{words}: {card[key]}" for key, words in _STAKES if card.get(key)]
    return str(card.get("name") or "").strip(), "\n".join(part for part in parts if part)


def _segment(
    kind: str,
    share: str,
    title: str,
    text: str,
    *,
    keep: Literal["start", "end"] = "start",
    marks: tuple[str, ...] = (),
) -> Segment:
    asked = SHARES[share]
    return Segment(
        kind,
        text,
        title.strip(),
        minimum=asked.minimum,
        priority=asked.priority,
        keep=keep,
        marks=marks,
    )


def _change_priority(segment: Segment, priority: int) -> Segment:
    return Segment(**{**asdict(segment), "priority": priority})


def context_to_json(context: Context) -> dict[str, Any]:
    """Write a context as plain values, to be stored."""
    return {
        "story": context.story,
        "segments": [asdict(segment) for segment in context.segments],
        "text": context.text,
        "game": None if context.game is None else dict(context.game),
        "entry": None if context.entry is None else dict(context.entry),
        "scene": context.scene,
    }


def context_from_json(value: Any) -> Context:
    """Read a stored context; keys that a later version has written are passed over."""
    if not isinstance(value, Mapping):
        raise InputError("the stored context is no object", "ask for the text anew")
    known = {each.name for each in fields(Segment)}
    segments = value.get("segments") or ()
    keys = ("story", "text", "game", "entry", "scene")
    plain = {key: value.get(key) for key in keys if key in value}
    plain["segments"] = [
        {key: one for key, one in each.items() if key in known}
        if isinstance(each, Mapping)
        else each
        for each in segments
    ]
    return from_plain(Context, plain, "the stored context", error=InputError)
