"""A game: its story to be read and written on, its characters, its cards, and its settings."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Query
from starlette.responses import HTMLResponse, Response

from fabula.core.errors import NotFound
from fabula.studio.cards import CHALLENGES, KINDS, PLAYERS_KINDS
from fabula.studio.games import Character, Scene
from fabula.studio.plays import list_challenges
from fabula.studio.reading import (
    NARRATOR,
    count_entries,
    read_marks,
    read_story,
    split_by_origin,
    write_markdown,
    write_plain,
)
from fabula.studio.scenes import Card, Entry, GameView, list_entries, read_game
from fabula.studio.shelf import list_unfinished
from fabula.web.identity import Call, Id, Reader
from fabula.web.pages import make_page_router, show
from fabula.web.pages._paging import PageNumber, Pager, make_pager, spell_address
from fabula.web.rendering import fill

router = make_page_router()
ENTRIES_SHOWN, CARDS_SHOWN = 50, 48
_OUTCOMES = {1: "a strong outcome", 0: "an uncertain outcome", -1: "a weak outcome"}
_WITHOUT_TEXT = {"refresh": "takes fresh cards", "subplot": "takes up a subplot"}
SceneNumber = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@dataclass(frozen=True)
class ShownEntry:
    """An entry as it is read: who tells and who wrote it, its text cut where authors change."""

    entry: Entry
    teller: str
    author: str
    parts: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    has_film: bool


@dataclass(frozen=True)
class Teller:
    """As whom one can write: a format, and a character unless it is the narrator."""

    name: str
    format: str
    character_id: str = ""


def _show(call: Call, template: str, view: GameView, **values: Any) -> HTMLResponse:
    """Show a page of a game; what all of them need is here."""
    is_live = view.game.archived_at is None
    is_member = any(member.person_id == call.person.id for member in view.members)
    return show(
        call,
        template,
        view=view,
        game=view.game,
        home=f"/games/{view.game.id}",
        api=f"games/{view.game.id}",
        is_live=is_live,
        is_member=is_member,
        may_narrate=is_live and view.game.part == "narrator",
        may_play=is_live and view.game.part in ("narrator", "player"),
        **values,
    )


@router.get("/games/{game_id}")
def show_game(
    call: Reader, game_id: Id, scene: SceneNumber = None, page: PageNumber | None = None
) -> HTMLResponse:
    """Show a scene of the story. Who plays comes to where it stops, a reader to where it begins."""
    view = read_game(call.studio, call.person, game_id)
    counts = count_entries(call.studio, call.person, game_id)
    shown = _choose_scene(view, scene)
    if shown is None:
        return _show(call, "game.html", view, scene=None, counts=counts, drafts=(), tellers=())
    total = counts.get(shown.id, 0)
    if page is None:
        is_end = scene is None and view.game.part != "reader"
        page = max(1, -(-total // ENTRIES_SHOWN)) if is_end else 1
    pager = make_pager(
        f"/games/{game_id}", {"scene": shown.number}, page=page, total=total, size=ENTRIES_SHOWN
    )
    start = (page - 1) * ENTRIES_SHOWN
    told, _ = list_entries(
        call.studio, call.person, game_id, scene_id=shown.id, offset=start, limit=ENTRIES_SHOWN
    )
    drafts, _ = list_unfinished(call.studio, call.person, game_id=game_id, limit=50)
    return _show(
        call,
        "game.html",
        view,
        scene=shown,
        counts=counts,
        pager=pager,
        **_find_neighbours(view, shown, pager, counts),
        entries=_shape_entries(call, view, told),
        drafts=[draft for draft in drafts if draft.scene_id == shown.id],
        other_drafts=[draft for draft in drafts if draft.scene_id != shown.id],
        tellers=_list_tellers(call, view, shown, total),
        open_scene=_find_open(view),
        challenges=list_challenges(call.studio, call.person, game_id, shown.id),
        outcomes=_OUTCOMES,
    )


def _choose_scene(view: GameView, number: int | None) -> Scene | None:
    """The scene that was asked for; else the one in which the story goes on, or its first."""
    if number is not None:
        found = next((scene for scene in view.scenes if scene.number == number), None)
        if found is None:
            last = len(view.scenes)
            raise NotFound(f"the game has no scene {number}", f"it has {last}")
        return found
    if not view.scenes or view.game.part == "reader":
        return view.scenes[0] if view.scenes else None
    return _find_open(view) or view.scenes[-1]


def _find_open(view: GameView) -> Scene | None:
    """The first scene in which something can still be written."""
    return next((one for one in view.scenes if not one.is_complete), None)


def _find_neighbours(
    view: GameView, scene: Scene, pager: Pager, counts: dict[str, int]
) -> dict[str, tuple[str, str] | None]:
    """Where reading goes on and goes back, across the borders of scenes: addresses and names."""
    place = view.scenes.index(scene)
    path = f"/games/{view.game.id}"

    def spell(number: int, at_end: bool = False) -> tuple[str, str] | None:
        if not 0 <= number < len(view.scenes):
            return None
        other = view.scenes[number]
        last = -(-counts.get(other.id, 0) // ENTRIES_SHOWN)
        page = last if at_end and last > 1 else None
        name = other.title or f"Scene {other.number}"
        return spell_address(path, scene=other.number, page=page), name

    before = (pager.previous, "Earlier in this scene") if pager.previous else None
    after = (pager.next, "On in this scene") if pager.next else None
    return {"before": before or spell(place - 1, at_end=True), "after": after or spell(place + 1)}


def _shape_entries(call: Call, view: GameView, told: list[Entry]) -> list[ShownEntry]:
    marks = read_marks(call.studio, call.person, view.game.id, [entry.id for entry in told])
    names = {character.id: character.name for character in view.characters}
    authors = {member.person_id: member.name for member in view.members}
    return [
        ShownEntry(
            entry,
            names.get(entry.character_id or "") or NARRATOR,
            authors.get(entry.author_id, "somebody who left") if entry.author_id else "imported",
            tuple(split_by_origin(entry.text, marks.get(entry.id, ()))),
            tuple(_describe_cards(entry)),
            entry.id in marks,
        )
        for entry in told
    ]


def _describe_cards(entry: Entry) -> list[str]:
    """Say in words what lies on the table with an entry."""

    def names(use: str) -> str:
        laid = [str(card.snapshot.get("name") or "?") for card in entry.cards if card.use == use]
        return ", ".join(laid)

    notes = []
    if entry.format in _WITHOUT_TEXT and not entry.text:
        notes.append(_WITHOUT_TEXT[entry.format])
    if place := names("place"):
        notes.append(f"Place: {place}")
    if challenges := names("challenge"):
        notes.append(f"Challenge: {challenges}")
    if played := names("played"):
        target = names("target")
        notes.append(f"Played: {played}" + (f" on {target}" if target else ""))
    if pickup := names("pickup"):
        notes.append(f"To pick up: {pickup}")
    if entry.polarity is not None:
        notes.append(_OUTCOMES[entry.polarity].capitalize())
    return notes


def _list_tellers(call: Call, view: GameView, scene: Scene, told: int) -> list[Teller]:
    """As whom one can write in a scene, the likeliest first."""
    if view.game.archived_at is not None or scene.is_complete or view.game.part == "reader":
        return []
    mine = [one for one in view.characters if one.player_id == call.person.id]
    if view.game.part == "player":
        return [Teller(one.name, "move", one.id) for one in mine]
    others = [one for one in view.characters if one.player_id != call.person.id]
    moves = [Teller(one.name, "move", one.id) for one in (*mine, *others)]
    if not told:
        return [Teller("Narrator: set the scene", "establishment"), *moves]
    narrated = [
        Teller("Narrator: tell on", "addition"),
        Teller("Narrator: end the scene", "conclusion"),
    ]
    return [*narrated, *moves]


@router.get("/games/{game_id}/characters")
def show_characters(call: Reader, game_id: Id) -> HTMLResponse:
    """Show who is in the story, their hands, and who plays them."""
    view = read_game(call.studio, call.person, game_id)
    hands: dict[str, list[Card]] = {}
    for card in view.cards:
        if card.character_id is not None and not card.is_deleted:
            hands.setdefault(card.character_id, []).append(card)

    def may_change(character: Character) -> bool:
        return view.game.part == "narrator" or character.player_id == call.person.id

    return _show(
        call,
        "game_characters.html",
        view,
        hands=hands,
        kinds=KINDS,
        players=[member for member in view.members if member.part != "reader"],
        names={member.person_id: member.name for member in view.members},
        changeable={one.id for one in view.characters if may_change(one)},
        open_scene=_find_open(view),
    )


@router.get("/games/{game_id}/cards")
def show_cards(
    call: Reader,
    game_id: Id,
    of: Annotated[str, Query(pattern="^(|table|[0-9a-f]{32})$")] = "",
    kind: Annotated[str, Query(max_length=20)] = "",
    page: PageNumber = 1,
) -> HTMLResponse:
    """Show the cards, of one hand or of one kind if that is asked for."""
    view = read_game(call.studio, call.person, game_id)
    cards = [card for card in view.cards if not card.is_deleted]
    wanted = [
        card
        for card in cards
        if of in ("", card.character_id or "table") and kind in ("", card.namespace)
    ]
    path, query = f"/games/{game_id}/cards", {"of": of, "kind": kind}
    pager = make_pager(path, query, page=page, total=len(wanted), size=CARDS_SHOWN)
    return _show(
        call,
        "game_cards.html",
        view,
        cards=wanted[(page - 1) * CARDS_SHOWN : page * CARDS_SHOWN],
        cards_total=len(cards),
        pager=pager,
        of=of,
        kind=kind,
        kinds=KINDS,
        challenges=CHALLENGES,
        players_kinds={one: KINDS[one] for one in PLAYERS_KINDS},
        names={one.id: one.name for one in view.characters},
        **_find_own(call, view, cards),
    )


def _find_own(call: Call, view: GameView, cards: list[Card]) -> dict[str, Any]:
    """Whose hands one makes cards for, of what kinds, and which cards one may change."""
    if view.game.part == "narrator":
        every = {card.card_id for card in cards}
        return {"mine": view.characters, "own_kinds": KINDS, "changeable": every}
    mine = [one for one in view.characters if one.player_id == call.person.id]
    hands = {one.id for one in mine}
    changeable = {
        card.card_id
        for card in cards
        if card.character_id in hands and card.namespace in PLAYERS_KINDS
    }
    own_kinds = {one: KINDS[one] for one in PLAYERS_KINDS}
    return {"mine": mine, "own_kinds": own_kinds, "changeable": changeable}


@router.get("/games/{game_id}/settings")
def show_settings(call: Reader, game_id: Id) -> HTMLResponse:
    """Show who takes part, what the game is called, and what can be done with it as a whole."""
    view = read_game(call.studio, call.person, game_id)
    may_archive = view.game.part == "narrator"
    may_exclude = call.person.may("researcher")
    return _show(call, "game_settings.html", view, may_archive=may_archive, may_exclude=may_exclude)


@router.get("/games/{game_id}/story.{form}")
def send_story(call: Reader, game_id: Id, form: Literal["txt", "md", "html"]) -> Response:
    """Send the whole story as a file."""
    story = read_story(call.studio, call.person, game_id)
    if form == "html":
        text, kind = fill("story.html", {"story": story}), "text/html"
    elif form == "md":
        text, kind = write_markdown(story), "text/markdown"
    else:
        text, kind = write_plain(story), "text/plain"
    ascii_title = unicodedata.normalize("NFKD", story.title).encode("ascii", "ignore").decode()
    plain, name = (f"{_name_file(title)}.{form}" for title in (ascii_title, story.title))
    held = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
    headers = {"Content-Disposition": held, "Content-Security-Policy": "sandbox"}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)


def _name_file(title: str) -> str:
    """A file's name of a title: no sign in it that some system keeps for itself."""
    return re.sub(r"[^\w -]+", "", title).strip()[:80] or "story"
