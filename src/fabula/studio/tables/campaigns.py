"""Campaigns: what people are asked about which stories, who was asked, and what they answered."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from fabula.studio.tables._columns import METADATA, Json, Word, belongs_to, identity, moment

# `definition` is the campaign file as plain values; `digest` is that of definition and stories, so
# that a report can say what was asked. A paused campaign gives out nothing new.
campaigns = Table(
    "campaigns",
    METADATA,
    identity(),
    Column("name", String(100), nullable=False, unique=True),
    belongs_to("people", "owner_id", on_delete="RESTRICT"),
    Column("definition", Json, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("state", Word, nullable=False, default="draft"),
    moment("created_at"),
    moment("opened_at", nullable=True),
    moment("closed_at", nullable=True),
    CheckConstraint("state IN ('draft', 'open', 'paused', 'closed')", name="state"),
)

# A story as it is shown. `name` is its id in the file it came from; `extra` holds what else a
# preset shows: the model's input, a comment to be judged, cards.
campaign_stories = Table(
    "campaign_stories",
    METADATA,
    identity(),
    belongs_to("campaigns", "campaign_id"),
    Column("name", String(500), nullable=False),
    Column("text", Text, nullable=False),
    Column("prompt", Text),
    Column("reference_texts", Json, nullable=False, default=list),
    # Digests of pictures, in order.
    Column("pictures", Json, nullable=False, default=list),
    Column("system", String(500)),
    Column("item", String(500)),
    Column("extra", Json, nullable=False, default=dict),
    Column("is_planted", Boolean, nullable=False, default=False),
    UniqueConstraint("campaign_id", "name"),
)

# Pictures as they are served: upright, bounded in size, without what a camera wrote into them.
campaign_pictures = Table(
    "campaign_pictures",
    METADATA,
    identity(),
    belongs_to("campaigns", "campaign_id"),
    Column("digest", String(64), nullable=False),
    Column("media_type", String(64), nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("campaign_id", "digest"),
)

# What is rated at once: one story, two, or several. `stories` are identities in the order of the
# file; in which order a rater sees them stands in the assignment. A `planted` task holds a story
# that is poor on purpose, a `duplicate` one the stories of another task (`original_id`) again:
# both are there to check raters, and each rater has its own places in them. `wanted` accepted
# ratings settle a task.
campaign_tasks = Table(
    "campaign_tasks",
    METADATA,
    identity(),
    belongs_to("campaigns", "campaign_id"),
    Column("number", Integer, nullable=False),
    Column("kind", Word, nullable=False, default="story"),
    Column("stories", Json, nullable=False),
    Column("item", String(500)),
    Column("systems", Json, nullable=False, default=list),
    Column("wanted", Integer, nullable=False),
    belongs_to("campaign_tasks", "original_id", nullable=True),
    UniqueConstraint("campaign_id", "number"),
    CheckConstraint("kind IN ('story', 'planted', 'duplicate')", name="kind"),
)

# Ways in. A code lets anyone in who has the link, up to `most` raters (0: any number); Prolific and
# MTurk bring their own names of raters in the address; an account is a person of the studio.
campaign_doors = Table(
    "campaign_doors",
    METADATA,
    identity(),
    belongs_to("campaigns", "campaign_id"),
    Column("way", Word, nullable=False),
    Column("code", String(64), nullable=False, unique=True),
    # What a rater is given at the end; empty: one of its own for each.
    Column("completion", String(200), nullable=False, default=""),
    Column("most", Integer, nullable=False, default=0),
    moment("created_at"),
    moment("closed_at", nullable=True),
    CheckConstraint("way IN ('code', 'prolific', 'mturk', 'account')", name="way"),
)

# A rater has a number in the campaign, and is called by it in all that leaves the studio.
# `external_id` is the name that a crowd site gave, for paying alone; it is emptied on request.
campaign_raters = Table(
    "campaign_raters",
    METADATA,
    identity(),
    belongs_to("campaigns", "campaign_id"),
    Column("number", Integer, nullable=False),
    belongs_to("campaign_doors", "door_id", on_delete="RESTRICT"),
    belongs_to("people", "person_id", on_delete="SET NULL", nullable=True),
    Column("external_id", String(200)),
    Column("external", Json, nullable=False, default=dict),
    # Of what the browser shows to be known again only a digest is kept. Who comes back by the name
    # of a crowd site alone gets a new secret, and sees no answers from before `secret_at`: that
    # name is no secret.
    Column("digest", String(64), nullable=False, unique=True),
    moment("secret_at"),
    Column("completion", String(200), nullable=False, default=""),
    # Answers to the training and how often it was tried.
    Column("training", Json, nullable=False, default=dict),
    moment("created_at"),
    moment("seen_at"),
    moment("consented_at", nullable=True),
    moment("trained_at", nullable=True),
    moment("finished_at", nullable=True),
    moment("excluded_at", nullable=True),
    UniqueConstraint("campaign_id", "number"),
    UniqueConstraint("campaign_id", "external_id"),
    UniqueConstraint("campaign_id", "person_id"),
)

# A task in the hands of a rater. A lease that ran out opens the place for others; the rater may
# still submit as long as nobody took it. `shown` is the order of the stories on the page, `answers`
# what is saved so far and, once submitted, what counts; `version` refuses a stale tab.
# `rejected_at` repeats the last verdict, for the counting of places. Sound work for which there was
# no place left (it came late, and another rater had been given the place; or the campaign was
# closed) is `surplus`: kept, shown and paid as any other, and outside the counting.
campaign_assignments = Table(
    "campaign_assignments",
    METADATA,
    identity(),
    belongs_to("campaigns", "campaign_id"),
    belongs_to("campaign_tasks", "task_id"),
    belongs_to("campaign_raters", "rater_id"),
    Column("number", Integer, nullable=False),
    Column("shown", Json, nullable=False),
    Column("state", Word, nullable=False, default="leased"),
    Column("answers", Json, nullable=False, default=dict),
    Column("version", Integer, nullable=False, default=0),
    # Seconds that the page was in sight, as the browser tells: shown, never trusted.
    Column("visible_s", Float, nullable=False, default=0.0),
    moment("leased_until"),
    moment("opened_at"),
    moment("saved_at", nullable=True),
    moment("submitted_at", nullable=True),
    moment("rejected_at", nullable=True),
    UniqueConstraint("rater_id", "task_id"),
    UniqueConstraint("rater_id", "number"),
    CheckConstraint("state IN ('leased', 'submitted', 'surplus', 'released')", name="state"),
    Index("ix_campaign_assignments_task_id_state", "task_id", "state"),
)

# A person's judgement of submitted work, the last one counts. Append-only: triggers refuse to
# change or take out a row.
campaign_verdicts = Table(
    "campaign_verdicts",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    belongs_to("campaign_assignments", "assignment_id"),
    Column("person_id", String(32), nullable=False),
    Column("verdict", Word, nullable=False),
    Column("reason", Text, nullable=False, default=""),
    moment("at"),
    CheckConstraint("verdict IN ('rejected', 'restored')", name="verdict"),
)

# What scorers say of the campaign's stories: raters that are no people, and are marked so.
campaign_scores = Table(
    "campaign_scores",
    METADATA,
    identity(),
    belongs_to("campaigns", "campaign_id"),
    belongs_to("campaign_stories", "story_id"),
    Column("scorer", String(500), nullable=False),
    Column("aspect", String(200), nullable=False, default=""),
    Column("value", Float),
    Column("status", Word, nullable=False, default="ok"),
    Column("note", Text, nullable=False, default=""),
    UniqueConstraint("story_id", "scorer", "aspect"),
)
