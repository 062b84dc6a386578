"""Scorers beside the raters of a campaign: to see where people and machine part.

The studio runs no metrics: a command or a page does, and leaves the scores here. They are raters
that are no people: they stand under their own names, never as `human:…`, count for no place and are
no part of what people agree on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from sqlalchemy import delete, insert, select

from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.studio.campaigns.opening import find_campaign_row
from fabula.studio.campaigns.opinions import HUMAN
from fabula.studio.campaigns.work import Work
from fabula.studio.database import Studio
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import campaign_scores, campaign_stories

_LONGEST = 500


def add_scorer(
    studio: Studio, person: Person | None, name: str, scores: Iterable[Score]
) -> dict[str, int]:
    """Put scores into a campaign, by the names of its stories; how many, by scorer.

    What a scorer said before is replaced. All scores are taken or, where one will not do, none.
    """
    given = list(scores)
    with studio.write() as db:
        campaign = find_campaign_row(db, person, name)
        table = campaign_stories
        wanted = select(table.c.name, table.c.id).where(table.c.campaign_id == campaign.id)
        stories = {row.name: row.id for row in db.execute(wanted)}
        rows = [_make_row(score, stories, name) | {"campaign_id": campaign.id} for score in given]
        counts: dict[str, int] = {}
        seen: set[tuple[str, str, str]] = set()
        for score in given:
            key = score.story, score.scorer, score.aspect
            if key in seen:
                raise InputError(
                    f"{score.scorer} scores story {score.story!r} twice", "keep one of the two"
                )
            seen.add(key)
            counts[score.scorer] = counts.get(score.scorer, 0) + 1
        own = campaign_scores.c.campaign_id == campaign.id
        db.execute(delete(campaign_scores).where(own, campaign_scores.c.scorer.in_(counts)))
        if rows:
            db.execute(insert(campaign_scores), rows)
        write_audit(db, person, "add_scorer", campaign.id, scorers=sorted(counts))
    return counts


def choose_scores(work: Work, table: ScoreTable) -> list[Score]:
    """Of a table of scores, take those of the campaign's stories by scorers that are no people.

    A story of the same name whose text is another is an error: it was not this one that was scored.
    """
    texts = {one.story.id: one.story.text for one in work.stories.values() if not one.is_planted}
    for story in table.stories:
        if texts.get(story.id, story.text) != story.text:
            raise InputError(
                f"story {story.id!r} has another text than in campaign {work.name}",
                "score the stories that the campaign asks about",
            )
    scores = [one for one in table if one.story in texts and not one.scorer.startswith(HUMAN)]
    if not scores:
        known = ", ".join(map(repr, list(texts)[:3]))
        raise InputError(
            f"nothing is scored that campaign {work.name} asks about", f"its stories are {known} …"
        )
    return scores


def _make_row(score: Score, stories: dict[str, str], campaign: str) -> dict[str, object]:
    if score.scorer.startswith(HUMAN):
        raise InputError(
            f"{score.scorer} would be a person", "people rate in the campaign; name a scorer"
        )
    if score.story not in stories:
        known = ", ".join(map(repr, sorted(stories)[:3]))
        raise InputError(
            f"campaign {campaign} has no story {score.story!r}", f"its stories are like {known}"
        )
    if not score.scorer or len(score.scorer) > _LONGEST:
        raise InputError(f"a scorer's name has 1 to {_LONGEST} characters", "shorten it")
    return {
        "story_id": stories[score.story],
        "scorer": score.scorer,
        "aspect": score.aspect,
        "value": None if math.isnan(score.value) else score.value,
        "status": str(score.status),
        "note": score.note,
    }
