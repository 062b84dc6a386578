"""The tables of the studio, one module for what belongs together; `METADATA` holds them all.

The same on SQLite and on PostgreSQL. Names of constraints are given, so that a migration can
speak of them.
"""

from fabula.studio.tables._columns import METADATA, Json, Moment, new_id, now
from fabula.studio.tables.campaigns import (
    campaign_assignments,
    campaign_doors,
    campaign_pictures,
    campaign_raters,
    campaign_scores,
    campaign_stories,
    campaign_tasks,
    campaign_verdicts,
    campaigns,
)
from fabula.studio.tables.games import (
    cards,
    characters,
    entries,
    entry_cards,
    games,
    members,
    scenes,
)
from fabula.studio.tables.machines import assignments, jobs, machines, stories
from fabula.studio.tables.people import (
    attempts,
    audit,
    links,
    people,
    roles,
    sessions,
    settings,
    tokens,
)
from fabula.studio.tables.writing import (
    drafts,
    edits,
    erasures,
    ratings,
    scores,
    suggestions,
    versions,
)

__all__ = [
    "METADATA",
    "Json",
    "Moment",
    "assignments",
    "attempts",
    "audit",
    "campaign_assignments",
    "campaign_doors",
    "campaign_pictures",
    "campaign_raters",
    "campaign_scores",
    "campaign_stories",
    "campaign_tasks",
    "campaign_verdicts",
    "campaigns",
    "cards",
    "characters",
    "drafts",
    "edits",
    "entries",
    "entry_cards",
    "erasures",
    "games",
    "jobs",
    "links",
    "machines",
    "members",
    "new_id",
    "now",
    "people",
    "ratings",
    "roles",
    "scenes",
    "scores",
    "sessions",
    "settings",
    "stories",
    "suggestions",
    "tokens",
    "versions",
]
