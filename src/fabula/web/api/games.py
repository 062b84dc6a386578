"""Games: scenes, characters, cards, who plays, what was published, and STORIUM's JSON of it all."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from fabula.studio.drafts import Draft
from fabula.studio.flags import exclude_story
from fabula.studio.games import (
    Character,
    Game,
    Member,
    Scene,
    archive_game,
    change_game,
    create_game,
    exclude_game,
    invite_by_name,
    invite_member,
    list_games,
    remove_member,
)
from fabula.studio.scenes import (
    Card,
    Entry,
    add_character,
    add_scene,
    change_character,
    change_scene,
    list_entries,
    read_game,
)
from fabula.studio.shelf import FIRST_TITLE, open_example, start_story
from fabula.studio.storium_json import download_game, import_game
from fabula.web.api.shapes import Body, Identity, Key, Line, Page, Prose, Wanted, make_router
from fabula.web.identity import Id, Somebody

router = make_router("games")


class NewGame(Body):
    """A game to begin."""

    key: Key
    title: Line
    description: Prose = ""
    world: Line = ""


class GameChange(Body):
    """What of a game is to be another; `is_excluded` is for researchers."""

    title: Line | None = None
    description: Prose | None = None
    world: Line | None = None
    is_complete: bool | None = None
    is_archived: bool | None = None
    is_excluded: bool | None = None


class StoryExclusion(Body):
    """An uploaded story, or what its platform calls the game, and whether it is left out."""

    story: Annotated[str, Field(min_length=1, max_length=200)]
    is_excluded: bool = True


class NewScene(Body):
    """A scene to open."""

    key: Key
    title: Line = ""


class SceneChange(Body):
    """What of a scene is to be another."""

    title: Line | None = None
    is_complete: bool | None = None


class NewCharacter(Body):
    """A character to be played."""

    key: Key
    name: Line
    description: Prose = ""
    player_id: Identity | None = None


class CharacterChange(Body):
    """What of a character is to be another; a player of null is nobody."""

    name: Line | None = None
    description: Prose | None = None
    player_id: Identity | None = None


class Invitation(Body):
    """What part a person has in a game."""

    part: Literal["narrator", "player", "reader"]


class NamedInvitation(Invitation):
    """What part a person has in a game who is known by the name they sign in with."""

    name: Line


class NewStory(Body):
    """A story to be written at once."""

    key: Key
    title: Line = FIRST_TITLE


class GameAnswer(BaseModel):
    """A game and all that belongs to it, but its entries."""

    game: Game
    members: list[Member]
    characters: list[Character]
    cards: list[Card]
    scenes: list[Scene]


class GameId(BaseModel):
    """Which game it has become."""

    id: str


@router.get("/games")
def read_games(call: Somebody, window: Wanted, archived: bool = False) -> Page[Game]:
    """List the games one may see."""
    return window.cut(list_games(call.studio, call.person, archived=archived))


@router.post("/games", status_code=201)
def add_game(call: Somebody, body: NewGame) -> Game:
    """Begin a game and be its narrator."""
    return create_game(call.studio, call.person, **body.model_dump())


@router.post("/games/import", status_code=201)
def bring_game(call: Somebody, body: Annotated[dict[str, Any], Field()]) -> GameId:
    """Bring a game along as STORIUM's JSON; gzip and deflate are read."""
    return GameId(id=import_game(call.studio, call.person, body))


@router.post("/games/samples", status_code=201)
def bring_samples(call: Somebody) -> GameId:
    """Bring the sample games along, those that are not there; give one that can be written in."""
    return GameId(id=open_example(call.studio, call.person))


@router.post("/games/start", status_code=201)
def begin_story(call: Somebody, body: NewStory) -> Draft:
    """Begin a game with a scene and a character, and open the draft of its first entry."""
    return start_story(call.studio, call.person, key=body.key, title=body.title)


@router.get("/games/{game_id}")
def read_one(call: Somebody, game_id: Id) -> GameAnswer:
    """Give a game with its members, characters, cards and scenes."""
    view = read_game(call.studio, call.person, game_id)
    return GameAnswer(
        game=view.game,
        members=list(view.members),
        characters=list(view.characters),
        cards=list(view.cards),
        scenes=list(view.scenes),
    )


@router.patch("/games/{game_id}")
def alter_game(call: Somebody, game_id: Id, body: GameChange) -> Game:
    """Change a game, put it away, or keep it out of statistics."""
    if body.is_excluded is not None:
        exclude_game(call.studio, call.person, game_id, is_excluded=body.is_excluded)
    if body.is_archived is not None:
        archive_game(call.studio, call.person, game_id, back=not body.is_archived)
    changes = body.model_dump(exclude={"is_archived", "is_excluded"}, exclude_unset=True)
    if changes or (body.is_excluded is None and body.is_archived is None):
        return change_game(call.studio, call.person, game_id, **changes)
    return read_game(call.studio, call.person, game_id).game


@router.put("/stories/excluded", status_code=204)
def leave_out_story(call: Somebody, body: StoryExclusion) -> None:
    """Keep all that was uploaded of a game at STORIUM's door out of statistics, or take it in."""
    exclude_story(call.studio, call.person, body.story, is_excluded=body.is_excluded)


@router.get("/games/{game_id}/storium")
def write_game(call: Somebody, game_id: Id) -> dict[str, Any]:
    """Give a game as STORIUM's JSON (format 0.9.2)."""
    return download_game(call.studio, call.person, game_id)


@router.get("/games/{game_id}/entries")
def read_entries(
    call: Somebody,
    game_id: Id,
    window: Wanted,
    scene_id: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")] = None,
    newest_first: bool = False,
) -> Page[Entry]:
    """List what was published, in its order or the newest first; of one scene if it is named."""
    entries, total = list_entries(
        call.studio,
        call.person,
        game_id,
        scene_id=scene_id,
        offset=window.offset,
        limit=window.limit,
        newest_first=newest_first,
    )
    return Page(items=entries, total=total)


@router.post("/games/{game_id}/members", status_code=201)
def add_named_member(call: Somebody, game_id: Id, body: NamedInvitation) -> Member:
    """Let somebody take part who is known by name."""
    return invite_by_name(call.studio, call.person, game_id, body.name, body.part)


@router.put("/games/{game_id}/members/{person_id}")
def add_member(call: Somebody, game_id: Id, person_id: Id, body: Invitation) -> Member:
    """Let somebody take part, or give them another part."""
    return invite_member(call.studio, call.person, game_id, person_id, body.part)


@router.delete("/games/{game_id}/members/{person_id}", status_code=204)
def drop_member(call: Somebody, game_id: Id, person_id: Id) -> None:
    """Let somebody take part no more, or leave."""
    remove_member(call.studio, call.person, game_id, person_id)


@router.post("/games/{game_id}/scenes", status_code=201)
def open_scene(call: Somebody, game_id: Id, body: NewScene) -> Scene:
    """Open a scene."""
    return add_scene(call.studio, call.person, game_id, **body.model_dump())


@router.patch("/games/{game_id}/scenes/{scene_id}")
def alter_scene(call: Somebody, game_id: Id, scene_id: Id, body: SceneChange) -> Scene:
    """Change a scene, or close it."""
    return change_scene(call.studio, call.person, game_id, scene_id, **body.model_dump())


@router.post("/games/{game_id}/characters", status_code=201)
def make_character(call: Somebody, game_id: Id, body: NewCharacter) -> Character:
    """Make a character."""
    return add_character(call.studio, call.person, game_id, **body.model_dump())


@router.patch("/games/{game_id}/characters/{character_id}")
def alter_character(
    call: Somebody, game_id: Id, character_id: Id, body: CharacterChange
) -> Character:
    """Change a character, or who plays it."""
    changes = body.model_dump(exclude_unset=True)
    return change_character(call.studio, call.person, game_id, character_id, **changes)
