"""Suggestions in a studio's tables, asked for without a game around them."""

from __future__ import annotations

import time
from itertools import count

from sqlalchemy import select

from fabula.studio.jobs import add_job
from fabula.studio.tables import machines, new_id, suggestions
from fabula.text.context.segments import context_to_json, prompt_context

_numbers = count()


def offer(studio, name="one", spec="scripted", **other):
    """Put a machine on offer; its identity."""
    machine_id = new_id()
    row = {"id": machine_id, "name": name, "spec": spec, "status": "active"} | other
    with studio.write() as db:
        db.execute(machines.insert().values(row))
    return machine_id


def ask(studio, machine_id, text="", **other):
    """Ask for a suggestion; its identity. A co-author `scripted` does what the text says."""
    suggestion_id = new_id()
    context = context_to_json(prompt_context("A prompt.", text, story="s"))
    row = {
        "id": suggestion_id,
        "key": str(next(_numbers)),
        "machine_id": machine_id,
        "context": context,
        "wanted": "words=0-249",
        "seed": 7,
    }
    with studio.write() as db:
        db.execute(suggestions.insert().values(row | other))
        add_job(db, "suggest", suggestion_id, machine_id=machine_id)
    return suggestion_id


def read(studio, suggestion_id):
    """The row of a suggestion as it is."""
    with studio.read() as db:
        return db.execute(select(suggestions).where(suggestions.c.id == suggestion_id)).one()


def wait_until(met, timeout_s=30.0):
    """Wait until a condition holds, and give what it gave."""
    deadline = time.monotonic() + timeout_s
    while not (value := met()):
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)
    return value


def wait_for(studio, suggestion_id, *states, timeout_s=30.0):
    """Wait until a suggestion is in one of these states (ended, unless told); its row."""
    states = states or ("done", "failed", "cancelled")
    wait_until(lambda: read(studio, suggestion_id).status in states, timeout_s)
    return read(studio, suggestion_id)
