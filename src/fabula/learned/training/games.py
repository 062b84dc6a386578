"""Games made from stories: a co-author that knows what its context is can learn from any of them.

The parts of a story become entries: the narrator opens every scene, and those whom the story names
take turns. The prompt is the challenge, and a name that an entry speaks of a card that is played in
it. What a card or a character says of itself was told before: never a word of an entry that is
still to be written. The games have STORIUM's export format, as those of the studio have.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from fabula.core.errors import SettingError
from fabula.core.protocols import watch
from fabula.core.story import Story
from fabula.datasets.story_games.writing import FORMAT_VERSION, Object, make_card, make_entry
from fabula.learned.training.cast import CastFinder, Finder, Member
from fabula.learned.training.stories import near_duplicate_groups
from fabula.text.detokenise import respace
from fabula.text.posts import clean_post
from fabula.text.sentences import sentence_spans

Unit = Literal["sentence", "paragraph"]
UNITS: tuple[Unit, ...] = ("sentence", "paragraph")
Span = tuple[int, int]

NARRATOR = "narrator"
_BEGUN, _TURN = datetime(2020, 1, 1, tzinfo=UTC), timedelta(hours=1)
_PARAGRAPH = re.compile(r"\S[^\n]*")
# NUL, and halves of characters.
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
# A card or a game is called by so many characters of a prompt.
_LONGEST_NAME = 60


@dataclass(frozen=True)
class GameSettings:
    """How a story becomes a game.

    An entry is a `unit` of the story, or so many `sentences` of it; a scene has at most so many
    `entries`. A game has at least `fewest` entries, and at most so many `players` take turns.
    `cleaned` takes back the blanks of tokenisers and what posts have around a story.
    """

    unit: Unit = "sentence"
    sentences: int = 1
    entries: int = 12
    fewest: int = 3
    players: int = 4
    names: Finder = "capitals"
    cleaned: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no games."""
        if self.unit not in UNITS:
            raise SettingError(f"unit={self.unit!r} is unknown", f"choose {' or '.join(UNITS)}")
        for name, least in (("sentences", 1), ("entries", 2), ("fewest", 2), ("players", 1)):
            if getattr(self, name) < least:
                raise SettingError(f"{name}={getattr(self, name)} will not do", f"{least} or more")
        if self.unit == "paragraph" and self.sentences > 1:
            raise SettingError(
                "an entry is a paragraph or several sentences, not both",
                "leave out --sentences, or take sentences for entries",
            )


@dataclass(frozen=True)
class MadeGame:
    """What became of a story: a game, or why it is none."""

    story: str
    game: Object | None = None
    left_out: str = ""


def make_games(
    stories: Iterable[Story],
    settings: GameSettings | None = None,
    *,
    seed: int = 0,
    most: int | None = None,
) -> Iterator[MadeGame]:
    """Make games of stories, one after the other; of near duplicates only the first.

    `most` draws so many stories by the seed, which also says who begins. A game depends on the
    seed, its story and, where names are told by capitals, on which words all stories write so.
    """
    settings = settings or GameSettings()
    watch.get().tell("reading stories")
    chosen = list(stories)
    if most is not None and most < len(chosen):
        places = random.Random(f"games {seed}").sample(range(len(chosen)), most)
        chosen = [chosen[place] for place in sorted(places)]
    if settings.cleaned:
        chosen = [_clean(story) for story in chosen]
    watch.get().tell("looking for names and near duplicates")
    finder = CastFinder(chosen, settings.names)
    groups = near_duplicate_groups([story.text for story in chosen])
    seen: set[int] = set()
    for number, (story, group) in enumerate(zip(chosen, groups, strict=True)):
        if number % 100 == 0:
            watch.get().tell(f"making games: {number:,} of {len(chosen):,} stories")
        if group in seen:
            yield MadeGame(story.id, left_out="near duplicates of another story")
            continue
        made = make_game(story, finder, settings, seed=seed)
        seen |= {group} if made.game else set()
        yield made


def make_game(
    story: Story, finder: CastFinder, settings: GameSettings, *, seed: int = 0
) -> MadeGame:
    """Make a game of one story, or say why not."""
    if _UNWRITABLE.search(f"{story.text}{story.prompt}"):
        return MadeGame(story.id, left_out="with signs that no file or studio keeps")
    if story.text.islower():
        return MadeGame(story.id, left_out="in small letters, which tell no names")
    spans = _split(story.text, settings)
    if len(spans) < settings.fewest:
        return MadeGame(story.id, left_out=f"of fewer than {settings.fewest} entries")
    cast = finder.find(story.text)
    players = _choose_players(cast, settings.players)
    if not players:
        return MadeGame(story.id, left_out="without a name or anybody who tells them")
    teller = _Teller(story, spans, cast, players, settings, random.Random(f"{seed} {story.id}"))
    return MadeGame(story.id, teller.write_game())


def _clean(story: Story) -> Story:
    prompt = respace(story.prompt) if story.prompt else None
    return replace(story, text=clean_post(respace(story.text)).text, prompt=prompt)


def _split(text: str, settings: GameSettings) -> list[Span]:
    """Give where the entries stand in the text."""
    if settings.unit == "paragraph":
        found = (match for match in _PARAGRAPH.finditer(text) if match[0].strip())
        return [(match.start(), match.start() + len(match[0].rstrip())) for match in found]
    spans = sentence_spans(text)
    groups = [
        spans[at : at + settings.sentences] for at in range(0, len(spans), settings.sentences)
    ]
    return [(group[0][0], group[-1][1]) for group in groups]


def _choose_players(cast: Sequence[Member], most: int) -> list[Member]:
    """Give the persons who are spoken of most, in the order in which they come."""
    persons = [member for member in cast if member.kind == "person"]
    chosen = sorted(persons, key=lambda member: -len(member.places))[:most]
    return [member for member in persons if member in chosen]


class _Teller:
    """Tells one story as a game."""

    def __init__(
        self,
        story: Story,
        spans: Sequence[Span],
        cast: Sequence[Member],
        players: Sequence[Member],
        settings: GameSettings,
        draws: random.Random,
    ) -> None:
        self.story, self.spans, self.cast, self.players = story, spans, cast, players
        self.prompt = (story.prompt or "").strip()
        self.size = settings.entries
        # One player alone takes turns with the narrator.
        turns: list[int | None] = [*range(1, len(players) + 1)]
        self.turns = turns if len(players) > 1 else [*turns, None]
        self.first = draws.randrange(len(players))
        self.sentences = sentence_spans(story.text)

    def write_game(self) -> Object:
        """Write the whole of it."""
        scenes = [
            self._write_scene(number, range(start, min(start + self.size, len(self.spans))))
            for number, start in enumerate(range(0, len(self.spans), self.size), 1)
        ]
        ended = _write_time(len(self.spans) - 1)
        return {
            "game_pid": self.story.id,
            "format_version": FORMAT_VERSION,
            "exported_at": ended,
            "name": _shorten(self.prompt) or f"Story {self.story.id}",
            "description": self.prompt,
            "world": None,
            "completed_at": ended,
            "characters": [
                {
                    "character_seq_id": str(number),
                    "name": player.name,
                    "description": self._recall(player, 1),
                    "user_pid": f"player-{number}",
                }
                for number, player in enumerate(self.players, 1)
            ],
            "cards": [self._write_card(member, 1) for member in self.cast if not member.is_teller],
            "scenes": scenes,
        }

    def _write_scene(self, number: int, places: range) -> Object:
        return {
            "act_number": None,
            "chapter_number": number,
            "title": "",
            "is_complete": True,
            "entries": [self._write_entry(place, places) for place in places],
        }

    def _write_entry(self, place: int, scene: range) -> Object:
        start, stop = self.spans[place]
        told: dict[str, Any] = {
            "description": self.story.text[start:stop],
            "created_at": _write_time(place),
        }
        named = [member for member in self.cast if self._is_named(member, place)]
        if place == scene.start:
            grounds = [member for member in named if member.kind == "place"]
            told["place_card"] = self._write_card(grounds[0], place) if grounds else None
            told["challenge_cards"] = [self._write_challenge()] if self.prompt else []
            return make_entry(place + 1, "establishment", user_pid=NARRATOR, character=None, **told)
        character = self._choose_turn(place)
        if character is None:
            form = "conclusion" if place == len(self.spans) - 1 else "addition"
            return make_entry(place + 1, form, user_pid=NARRATOR, character=None, **told)
        told["target_challenge_card"] = self._write_challenge() if self.prompt else None
        told["cards_played_on_challenge"] = [
            self._write_card(member, place)
            for member in named
            if member is not self.players[character - 1] and not member.is_teller
        ]
        player = f"player-{character}"
        return make_entry(place + 1, "move", user_pid=player, character=character, **told)

    def _choose_turn(self, place: int) -> int | None:
        """Give who writes an entry: one after the other, over those that open scenes."""
        openings = place // self.size + 1
        return self.turns[(self.first + place - openings) % len(self.turns)]

    def _is_named(self, member: Member, place: int) -> bool:
        return member.is_in(*self.spans[place])

    def _write_card(self, member: Member, place: int) -> Object:
        """Write the card of a member as it is when an entry is written: what was told before."""
        number = 1 + self.cast.index(member)
        told = self._recall(member, place)
        return make_card(
            f"{self.story.id}-{number}", member.kind, name=member.name, description=told
        )

    def _write_challenge(self) -> Object:
        name = _shorten(self.prompt)
        described = self.prompt if name != self.prompt else ""
        return make_card(f"{self.story.id}-0", "obstacle", name=name, description=described)

    def _recall(self, member: Member, place: int) -> str:
        """Give the last sentence before an entry that speaks of a member; else nothing."""
        before = self.spans[place - 1][1] if place else 0
        told = [span for span in self.sentences if span[1] <= before and member.is_in(*span)]
        return self.story.text[slice(*told[-1])] if told else ""


def _write_time(place: int) -> str:
    return (_BEGUN + place * _TURN).isoformat().replace("+00:00", "Z")


def _shorten(prompt: str) -> str:
    """Give as many words of a prompt as make a name."""
    words = " ".join(prompt.split())
    if len(words) <= _LONGEST_NAME:
        return words
    return words[:_LONGEST_NAME].rsplit(" ", 1)[0] + " …"
