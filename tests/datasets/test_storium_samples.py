"""The sample games, and what is counted of them beside a count in plain loops over the JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import fabula.datasets as datasets
from fabula.datasets import load_dataset
from fabula.datasets.storium import games
from fabula.datasets.storium_samples import FOLDER, read_exports
from fabula.datasets.story_games.game import FORMATS, NAMESPACES
from fabula.datasets.story_games.statistics import statistics

FILES = sorted((Path(datasets.__file__).parent / "_files" / "games").glob("*.json"))
RAW = [json.loads(path.read_text(encoding="utf-8")) for path in FILES]
TURNS = [turn for raw in RAW for scene in raw["scenes"] for turn in scene["entries"]]
LISTS = ("cards_played_on_challenge", "challenge_cards", "cards_for_pickup")


def on_table(turn: dict[str, Any]) -> list[dict[str, Any]]:
    laid = [card for key in LISTS for card in turn[key]]
    if turn["place_card"] is not None:
        laid.append(turn["place_card"])
    return laid


def count_parts() -> dict[str, int]:
    """Count again, without any code of ours."""
    found: Counter[str] = Counter()
    users = set()
    for raw in RAW:
        played_characters, own_cards, laid_here = set(), set(), 0
        for card in raw["cards"]:
            if card["is_edited"] or (card["author_user_pid"] and not card["world_card_id"]):
                own_cards.add(card["card_id"])
        for scene in raw["scenes"]:
            found["scenes"] += 1
            for turn in scene["entries"]:
                found["entries"] += 1
                found["entries with text"] += turn["description"] is not None
                users.add(turn["user_pid"])
                if turn["role"] != "narrator":
                    played_characters.add(turn["role"])
                found["location cards"] += turn["place_card"] is not None
                found["challenge cards"] += len(turn["challenge_cards"])
                found["cards for pickup"] += len(turn["cards_for_pickup"])
                for card in turn["cards_played_on_challenge"]:
                    found["cards played on challenges"] += 1
                    is_wild = card["is_wild"] or card["via_wild_exchanged_for"] is not None
                    found["wild cards played" if is_wild else "regular cards played"] += 1
                for card in on_table(turn):
                    laid_here += 1
                    found["cards on the table created or edited"] += card["card_id"] in own_cards
        found["games"] += 1
        found["completed games"] += raw["completed_at"] is not None
        found["games without cards"] += laid_here == 0
        found["cards on the table"] += laid_here
        found["characters"] += len(raw["characters"])
        found["characters played"] += len(played_characters)
        found["cards created or edited"] += len(own_cards)
    return dict(found) | {"users": len(users)}


def list_texts() -> list[str]:
    """All texts, a card's once a game."""
    texts = []
    for raw in RAW:
        once = set()
        turns = [turn for scene in raw["scenes"] for turn in scene["entries"]]
        for card in [*raw["cards"], *(card for turn in turns for card in on_table(turn))]:
            for key in ("description", "success_stakes", "failure_stakes"):
                if card[key]:
                    once.add((card["card_id"], key, card[key]))
        texts += [text for _, _, text in once]
        texts += [character["description"] for character in raw["characters"]]
        texts += [turn["description"] for turn in turns if turn["description"]]
    return texts


def test_statistics_equal_a_direct_count() -> None:
    runs = [run for text in list_texts() for run in re.findall(r"\w+|\W+", text)]
    wanted = count_parts() | {"tokens": len(runs), "unique tokens": len(set(runs))}
    assert dict(statistics(games(FOLDER)).counts) == wanted


def test_histograms_equal_a_direct_count() -> None:
    found = statistics(games(FOLDER)).histograms
    told = [turn["description"] for turn in TURNS if turn["description"]]
    assert found["words per entry"] == dict(
        sorted(Counter(len(re.findall(r"\w+", text)) for text in told).items())
    )
    plays = Counter(len(turn["cards_played_on_challenge"]) for turn in TURNS)
    assert found["cards per entry"] == dict(sorted(plays.items()))
    scenes = Counter(len(scene["entries"]) for raw in RAW for scene in raw["scenes"])
    assert found["entries per scene"] == dict(sorted(scenes.items()))


def test_there_are_three_games_of_thirty_entries() -> None:
    assert [sum(len(scene["entries"]) for scene in raw["scenes"]) for raw in RAW] == [30, 30, 30]
    assert len({raw["world"]["name"] for raw in RAW}) == 3
    for raw in RAW:
        turns = [turn for scene in raw["scenes"] for turn in scene["entries"]]
        assert len(raw["scenes"]) >= 3 and len({turn["user_pid"] for turn in turns}) >= 3
    assert {turn["format"] for turn in TURNS} == set(FORMATS)
    assert {card["namespace"] for raw in RAW for card in raw["cards"]} == set(NAMESPACES)
    assert list(read_exports()) == RAW


def test_an_entry_has_40_to_125_words() -> None:
    sizes = [len(turn["description"].split()) for turn in TURNS if turn["description"]]
    assert min(sizes) >= 40 and max(sizes) <= 125


def test_no_entry_is_told_twice() -> None:
    told = [turn["description"] for turn in TURNS if turn["description"]]
    sentences = [one for text in told for one in re.split(r"(?<=[.!?])\s+", text) if len(one) > 30]
    assert len(told) == len(set(told)) == 84
    assert [text for text, count in Counter(sentences).items() if count > 1] == []


def test_a_challenge_comes_out_by_the_cards_played_on_it() -> None:
    outcomes = []
    for raw in RAW:
        played: dict[str, list[int]] = {}
        for scene in raw["scenes"]:
            for turn in scene["entries"]:
                target = turn["target_challenge_card"]
                if target is None:
                    assert turn["challenge_completion_polarity"] is None
                    continue
                cards = played.setdefault(target["card_id"], [])
                cards += [card["polarity"] for card in turn["cards_played_on_challenge"]]
                assert target["challenge_points_polarities"] == cards
                is_complete = len(cards) == target["challenge_points"]
                outcome = (sum(cards) > 0) - (sum(cards) < 0) if is_complete else None
                assert turn["challenge_completion_polarity"] == outcome
                outcomes += [outcome] if is_complete else []
    assert outcomes.count(1) >= 1 and outcomes.count(0) >= 1


def test_they_load_by_their_name() -> None:
    assert load_dataset("storium_samples").counts["stories"] == 84
