"""Campaigns for researchers: all of them, and one as it goes on."""

from __future__ import annotations

from starlette.responses import Response

from fabula.core.errors import NotFound
from fabula.models.reading.state_cache import LruCache
from fabula.studio.campaigns.opening import Campaign, find_campaign, list_campaigns
from fabula.studio.campaigns.raters import list_doors
from fabula.studio.campaigns.work import read_mark, read_work
from fabula.web.dashboard.campaign import CampaignBoard, make_board
from fabula.web.identity import Call, Reader
from fabula.web.pages import make_page_router, show
from fabula.web.pages._paging import PageNumber, make_pager

router = make_page_router()
REMARKS_SHOWN, FLAGS_SHOWN = 30, 100
# Campaigns whose figures are kept until something in them changes.
_boards: LruCache[CampaignBoard] = LruCache(8)
_KINDS = {"svg": "image/svg+xml", "csv": "text/csv; charset=utf-8"}


@router.get("/campaigns")
def show_campaigns(call: Reader) -> Response:
    """List campaigns and how far each is."""
    call.person.need("researcher")
    return show(call, "campaigns.html", campaigns=list_campaigns(call.studio, call.person))


@router.get("/campaigns/{name}")
def show_campaign(call: Reader, name: str, page: PageNumber = 1) -> Response:
    """Show a campaign as it goes on: progress, agreement, raters, systems, flags, comments."""
    campaign = find_campaign(call.studio, call.person, name)
    board = _read_board(call, campaign)
    address = f"/campaigns/{campaign.name}"
    total = len(board.remarks)
    first = (page - 1) * REMARKS_SHOWN
    return show(
        call,
        "campaign.html",
        campaign=campaign,
        board=board,
        work=board.work,
        doors=list_doors(call.studio, call.person, campaign.name),
        origin=call.origin,
        flags=board.flags[:FLAGS_SHOWN],
        left_out=max(0, len(board.flags) - FLAGS_SHOWN),
        numbers={one.id: one.number for one in board.work.submitted},
        rejected={one.id for one in board.work.submitted if one.is_rejected},
        remarks=board.remarks[first : first + REMARKS_SHOWN],
        pager=make_pager(address, {}, page=page, total=total, size=REMARKS_SHOWN),
        address=address,
        query="",
    )


@router.get("/campaigns/{name}/figures/{part_file}")
def download_part(call: Reader, name: str, part_file: str) -> Response:
    """Give a part's chart as SVG or its numbers as CSV."""
    wanted, _, kind = part_file.rpartition(".")
    campaign = find_campaign(call.studio, call.person, name)
    part = _read_board(call, campaign).find(wanted)
    if part is None or kind not in _KINDS or (kind == "svg" and part.draw is None):
        raise NotFound("there is nothing at this address")
    text = part.write_svg() if kind == "svg" else part.write_csv()
    named = {"Content-Disposition": f'attachment; filename="{campaign.name}-{part_file}"'}
    return Response(text, media_type=_KINDS[kind], headers=named)


def _read_board(call: Call, campaign: Campaign) -> CampaignBoard:
    """Make a campaign's figures, once for as long as nothing in it has changed."""
    key = campaign.id, read_mark(call.studio, campaign.id)

    def make(_: list[int]) -> list[CampaignBoard]:
        return [make_board(read_work(call.studio, call.person, campaign.name))]

    return _boards.get([key], make)[0]
