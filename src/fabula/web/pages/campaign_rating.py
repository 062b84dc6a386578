"""The pages of a campaign for those who rate: welcome, instructions, practice, tasks, thanks.

A rater is known by a cookie that is set on coming in; the door's code stays in the address, so that
whoever has lost the cookie finds the way in again. Opening the page of a task takes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Path
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from fabula.core.errors import NotAllowed, NotFound
from fabula.core.story import count_text
from fabula.studio.campaigns.assigning import take_task
from fabula.studio.campaigns.definition import Definition
from fabula.studio.campaigns.opening import Campaign
from fabula.studio.campaigns.raters import Door, Rater, make_csrf, read_door, read_rater
from fabula.studio.campaigns.showing import (
    DONE,
    Assignment,
    OwnTask,
    Turn,
    list_assignments,
    read_assignment,
)
from fabula.web.api.shapes import API
from fabula.web.campaign_sheet import lay_out_practice, lay_out_task, make_page_values
from fabula.web.errors import Unauthenticated
from fabula.web.identity import Call, Visit, find_passer, name_rater_cookie
from fabula.web.pages import make_page_router, show

router = make_page_router()
_HOME = "/campaigns/{campaign}/{code}"
_PROLIFIC = "https://app.prolific.com/submissions/complete?cc="
# What is said where there is no task, by the step that a rater is at: a title and its words.
_NO_TASK = {
    "paused": (
        "The campaign pauses",
        "Nothing is given out just now. What you have done is safe; please come back later.",
    ),
    "closed": ("This is over", "Nobody is asked any more. Thank you for coming."),
    "failed": (
        "Thank you for trying",
        "The practice did not go as it should, and the tasks are only for those who passed it.",
    ),
    "excluded": (
        "You take no part any more",
        "Please ask who runs this campaign, if that is wrong.",
    ),
}


@dataclass(frozen=True)
class Threshold:
    """Somebody at a door of a campaign; `rater` is None for who has not come in yet."""

    visit: Visit
    campaign: Campaign
    door: Door
    secret: str
    rater: Rater | None

    @property
    def definition(self) -> Definition:
        """What is asked."""
        return self.campaign.definition

    @property
    def home(self) -> str:
        """Where the pages are."""
        return f"/campaigns/{self.campaign.name}/{self.door.code}"

    @property
    def api(self) -> str:
        """Where the scripts send things."""
        return f"{API}/rating/{self.campaign.id}"

    def go(self, where: str = "") -> RedirectResponse:
        """Send the browser to another of the pages."""
        return RedirectResponse(f"{self.home}{where}", 303)

    def show(self, template: str, step: str, **values: Any) -> Response:
        """Fill a template for the rater."""
        steps = ["Welcome", "Instructions", *(["Practice"] if self.definition.training else [])]
        shared: dict[str, Any] = {
            "campaign": self.definition,
            "home": self.home,
            "steps": [*steps, "Tasks", "Thanks"],
            "step": step,
            "csrf": make_csrf(self.secret) if self.secret else "",
        }
        return show(self.visit, template, **(shared | values))


def find_threshold(
    request: Request,
    campaign: Annotated[str, Path(max_length=100)],
    code: Annotated[str, Path(max_length=64)],
) -> Threshold:
    """Find the door that an address names, and who stands in it, if they have come in."""
    visit = find_passer(request)
    door, leads = read_door(visit.studio, code)
    if leads.name != campaign:
        raise NotFound("this link leads nowhere", "look whether it is whole, or ask for another")
    if door.way == "account" and not isinstance(visit, Call):
        raise Unauthenticated("this door is for people with an account here", "sign in")
    secret = visit.read_cookie(name_rater_cookie(leads.id))
    try:
        rater = read_rater(visit.studio, leads.id, secret) if secret else None
    except NotAllowed:
        rater, secret = None, ""
    return Threshold(visit, leads, door, secret, rater)


Here = Annotated[Threshold, Depends(find_threshold)]


@router.get(_HOME)
def show_welcome(here: Here) -> Response:
    """Show what is asked of whom, and the text to agree to; nobody is written down for looking."""
    rater, pay = here.rater, here.definition.pay
    is_known = rater is not None and rater.step not in ("consent", "training")
    return here.show(
        "campaign_welcome.html",
        "Welcome",
        closed=_say_closed(here),
        asks_consent=bool(here.definition.consent.strip())
        and (rater is None or rater.step == "consent"),
        tasks=here.definition.most_tasks,
        minutes=round(pay.expected_s / 60),
        pay=f"{pay.currency} {pay.amount:,.2f}" if pay.amount else "",
        code=here.door.code,
        next=f"{here.home}/task" if is_known else f"{here.home}/instructions",
        is_known=is_known,
    )


def _say_closed(here: Threshold) -> str:
    """Say why nobody new is let in; who has come in goes on."""
    if here.rater is not None:
        return ""
    if here.campaign.state == "paused":
        return "This campaign pauses: please come back later."
    if here.campaign.state == "closed" or here.door.closed_at is not None:
        return "Nobody new is asked any more. Thank you for coming."
    if here.door.most and here.door.raters >= here.door.most:
        return "Enough people have come by this link. Thank you for coming."
    return ""


@router.get(f"{_HOME}/instructions")
def show_instructions(here: Here) -> Response:
    """Show the instructions with good and bad examples."""
    if here.rater is None or here.rater.step == "consent":
        return here.go()
    to_practice = here.rater.step == "training"
    return here.show(
        "campaign_instructions.html",
        "Instructions",
        next=f"{here.home}/{'practice' if to_practice else 'task'}",
        next_label="Begin to practise" if to_practice else "Go on to the tasks",
    )


@router.get(f"{_HOME}/practice")
def show_practice(here: Here) -> Response:
    """Show the next story to practise on; what is answered is judged at once."""
    if here.rater is None or here.rater.step == "consent":
        return here.go()
    if here.rater.step != "training":
        return here.go("/task")
    stories, number = here.definition.training, int(here.rater.training.get("done", 0))
    shown, sections = lay_out_practice(here.definition, stories[number])
    values = make_page_values(here.definition, [shown], sections)
    values["data"] |= {
        "training": f"{here.api}/training",
        "number": number,
        "next": f"{here.home}/practice",
        "home": here.home,
        "answers": {},
        "can_answer": True,
    }
    return here.show(
        "campaign_task.html",
        "Practice",
        **values,
        **_frame(
            f"Practice {number + 1} of {len(stories)}",
            done=number,
            total=len(stories),
            submit_label="Check my answers",
        ),
    )


@router.get(f"{_HOME}/task")
def show_task(here: Here) -> Response:
    """Give the rater the task they have, or the next; or say why there is none."""
    if here.rater is None:
        return here.go()
    turn = take_task(here.visit.studio, here.campaign.id, here.secret)
    if turn.step in ("consent", "training"):
        return here.go("" if turn.step == "consent" else "/practice")
    own = list_assignments(here.visit.studio, here.campaign.id, here.secret)
    if turn.assignment is None:
        return _show_end(here, turn, own)
    return here.show(
        "campaign_task.html",
        "Tasks",
        **_sheet(here, turn.assignment, can_answer=True),
        **_frame(
            f"Task {turn.done + 1} of {turn.most}",
            done=turn.done,
            total=turn.most,
            earlier=_list_earlier(here, own),
            pause=f"{here.home}/pause",
            submit_label="Submit and go on",
        ),
    )


@router.get(f"{_HOME}/tasks/{{number}}")
def show_earlier(here: Here, number: Annotated[int, Path(ge=1, le=2**31 - 1)]) -> Response:
    """Show a task that the rater has submitted, with the answers as they are; they stay so."""
    if here.rater is None:
        return here.go()
    own = list_assignments(here.visit.studio, here.campaign.id, here.secret)
    done = [task for task in own if task.state in DONE]
    if not 1 <= number <= len(done):
        return here.go("/task")
    task = done[number - 1]
    assignment = read_assignment(here.visit.studio, here.campaign.id, here.secret, task.id)
    notice = "You have submitted this: it can be looked at, and not changed."
    if not assignment.answers:
        notice = (
            "You have submitted this, in another browser: the answers are not shown in this one."
        )
    return here.show(
        "campaign_task.html",
        "Tasks",
        **_sheet(here, assignment, can_answer=False),
        **_frame(
            f"Task {number}, submitted",
            earlier=_list_earlier(here, own, number),
            notice=notice,
            onward=f"{here.home}/task",
            onward_label="Go on",
            can_answer=False,
        ),
    )


@router.get(f"{_HOME}/pause")
def show_pause(here: Here) -> Response:
    """Say that all is saved, and for how long the task is kept."""
    if here.rater is None:
        return here.go()
    own = list_assignments(here.visit.studio, here.campaign.id, here.secret)
    held = next((task for task in own if task.state == "leased"), None)
    lines = ["Your answers are saved. Open the same link in this browser to go on."]
    if held:
        minutes = count_text(round(here.definition.lease_minutes), "minute")
        lines.append(
            f"The task is kept for you for {minutes}; after that somebody else may be given it, and"
            " you go on with another."
        )
    return here.show(
        "campaign_pause.html",
        "Tasks",
        lines=lines,
        next=f"{here.home}/task",
        release=f"{here.api}/tasks/{held.id}/release" if held else "",
        earlier=_list_earlier(here, own),
    )


def _show_end(here: Threshold, turn: Turn, own: list[OwnTask]) -> Response:
    """Say why there is no task; with the code, where one is owed."""
    title, words = _NO_TASK.get(turn.step, ("Thank you", ""))
    to_prolific = here.door.way == "prolific" and turn.completion
    return here.show(
        "campaign_thanks.html",
        "Thanks",
        title=title,
        words=words,
        is_finished=turn.step == "finished",
        summary=f"You have submitted {count_text(turn.done, 'task')}." if turn.done else "",
        completion=turn.completion or "",
        return_address=_PROLIFIC + quote(turn.completion or "") if to_prolific else "",
        way=here.door.way,
        earlier=_list_earlier(here, own),
    )


def _frame(heading: str, **values: Any) -> dict[str, Any]:
    """What the page of a task has around it, where a page does not say otherwise."""
    blank = dict.fromkeys(("pause", "notice", "onward", "onward_label", "submit_label"), "")
    rest = {"heading": heading, "done": 0, "total": 0, "earlier": [], "can_answer": True}
    return blank | rest | values


def _sheet(here: Threshold, assignment: Assignment, *, can_answer: bool) -> dict[str, Any]:
    pictures = f"{here.api}/pictures"
    stories, sections = lay_out_task(here.definition, assignment, pictures=pictures)
    values = make_page_values(here.definition, stories, sections)
    work = f"{here.api}/tasks/{assignment.id}"
    values["data"] |= {
        "assignment": assignment.id,
        "answers": assignment.answers,
        "version": assignment.version,
        "visible_s": assignment.visible_s,
        "can_answer": can_answer,
        "read": work,
        "save": work if can_answer else "",
        "submit": f"{work}/submit",
        "next": f"{here.home}/task",
        "home": here.home,
    }
    return values


def _list_earlier(
    here: Threshold, own: list[OwnTask], current: int | None = None
) -> list[dict[str, Any]]:
    """Name the tasks that were submitted, the latest first."""
    done = [task for task in own if task.state in DONE]
    return [
        {
            "name": f"Task {number}",
            "address": f"{here.home}/tasks/{number}",
            "is_this": number == current,
        }
        for number in range(len(done), 0, -1)
    ]
