"""The studio with two endpoints more, which `studio_load.py` holds publishing against.

    FABULA_DATABASE_URL=sqlite:///FILE python benchmarks/studio_bare.py PORT

`/bare` inserts a text and commits, `/bare-known` asks first who inserts it. They are answered by
the process that answers everything else, behind the same gate.
"""

from __future__ import annotations

import sys
from typing import Annotated

import uvicorn
from fastapi import APIRouter, Body
from sqlalchemy import Column, MetaData, String, Table, Text, insert

from fabula.studio.database import Studio
from fabula.studio.tables import new_id
from fabula.web.app import make_app
from fabula.web.identity import Anybody, Somebody

BARE = Table("bare", MetaData(), Column("id", String(32), primary_key=True), Column("text", Text))
Prose = Annotated[str, Body(embed=True)]
router = APIRouter()


@router.post("/bare")
def insert_bare(visit: Anybody, text: Prose) -> str:
    return insert_text(visit.studio, text)


@router.post("/bare-known")
def insert_known(call: Somebody, text: Prose) -> str:
    return insert_text(call.studio, text)


def insert_text(studio: Studio, text: str) -> str:
    row = {"id": new_id(), "text": text}
    with studio.write() as db:
        db.execute(insert(BARE), row)
    return row["id"]


def main() -> None:
    app = make_app()
    app.include_router(router)
    port = int(sys.argv[1])
    # As `fabula serve` does.
    uvicorn.run(app, port=port, log_level="warning", access_log=False, proxy_headers=False)


if __name__ == "__main__":
    main()
