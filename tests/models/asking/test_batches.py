from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fabula.core.errors import UserError
from fabula.models.asking import batches
from fabula.models.asking.journal import Journal
from fabula.models.asking.opening import open_respondent
from fabula.models.asking.question import Question, Respondent, Response
from fabula.models.asking.spending import open_account
from fabula.models.servers.wire import Wish
from fakes.judge_server import TRANSIENT, JudgeServer, spoil

WISH = Wish(max_tokens=8, temperature=0.0, top_p=1.0)
# As many bytes as make the hundred tokens that the server counts.
STORY = "It was a dark night. " * 19
STYLES = pytest.mark.parametrize("style", ["openai", "anthropic"])


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.setattr(batches, "_FIRST_POLL_S", 0.01)


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with closing(JudgeServer(spoil)) as found:
        yield found


def open_batched(server: JudgeServer, style: str, journal: Path | None = None) -> Respondent:
    prices = "price_in=1.0, price_out=5.0"
    spec = f"api('{style}-m', base_url={server.url!r}, style={style!r}, batch=True, {prices})"
    return open_respondent(spec, journal=journal)


def make_questions(count: int) -> list[Question]:
    return [
        Question(f"q{n}", f"{STORY} Rate story {n}.", wish=WISH, choices=("3", "4", "5"))
        for n in range(count)
    ]


def ask(respondent: Respondent, count: int) -> dict[str, Response]:
    found = list(respondent.ask(make_questions(count)))
    assert len(found) == count
    return {response.key: response for response in found}


@STYLES
def test_a_batch_is_answered_out_of_order_and_what_failed_goes_into_the_next(
    server: JudgeServer, style: str
) -> None:
    with open_account() as account:
        found = ask(open_batched(server, style), 60)
    faults = {number: spoil(number, 1) for number in range(60)}
    for number, fault in faults.items():
        wanted = "refused" if fault == "refusal" else "answered"
        assert found[f"q{number}"].status == wanted
        assert server.asked[number] == (2 if fault in TRANSIENT else 1)
    assert len(server.batches) == 2
    assert account.cost == pytest.approx((server.tokens_in + server.tokens_out * 5.0) / 1e6)
    # OpenAI's batches tell logs too: exp(-2) of "3".
    told = found["q5"].probabilities
    assert told.get("3") == (pytest.approx(0.1353352832) if style == "openai" else None)


@STYLES
def test_a_run_that_was_stopped_reads_its_batch_instead_of_sending_it_again(
    server: JudgeServer, style: str, tmp_path: Path, monkeypatch: Any
) -> None:
    server.plan = lambda number, nth: ""

    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(batches.time, "sleep", stop)
        with pytest.raises(KeyboardInterrupt):
            ask(open_batched(server, style, tmp_path / "j.jsonl"), 20)
    journal = Journal(tmp_path / "j.jsonl")
    journal.refresh()
    assert list(journal.open_batches) == ["batch-0"]
    assert len(journal) == 0
    # Some of them now, the others and new ones later.
    found = ask(open_batched(server, style, tmp_path / "j.jsonl"), 8)
    assert {response.status for response in found.values()} == {"answered"}
    ask(open_batched(server, style, tmp_path / "j.jsonl"), 25)
    assert set(server.asked.values()) == {1}
    assert len(server.asked) == 25
    journal.refresh()
    assert journal.open_batches == {}


@STYLES
@pytest.mark.parametrize("others", [0, 3])
def test_a_run_that_was_killed_before_it_noted_its_batch_finds_it_at_the_server(
    server: JudgeServer, style: str, others: int, tmp_path: Path, monkeypatch: Any
) -> None:
    server.plan = lambda number, nth: ""

    def die(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "add_batch", die)
        with pytest.raises(KeyboardInterrupt):
            ask(open_batched(server, style, tmp_path / "j.jsonl"), 20)
    assert len(server.batches) == 1
    # What somebody else sends to the same server is not ours, though it is as large.
    for number in range(others):
        stranger = [Question(f"{n}", f"Story {900 + n + 100 * number}, story {n + 100}.")
                    for n in range(20)]  # fmt: skip
        list(open_batched(server, style, tmp_path / f"other-{number}.jsonl").ask(stranger))
    server.batches["batch-0"]["polls"] = 9 * bool(others)
    found = ask(open_batched(server, style, tmp_path / "j.jsonl"), 20)
    assert {response.status for response in found.values()} == {"answered"}
    assert len(server.batches) == 1 + others
    assert {server.asked[number] for number in range(20)} == {1}
    journal = Journal(tmp_path / "j.jsonl")
    journal.refresh()
    assert (journal.open_intents, journal.open_batches) == ([], {})


@STYLES
def test_a_batch_whose_opening_nobody_confirms_is_not_opened_again(
    server: JudgeServer, style: str, monkeypatch: Any
) -> None:
    server.plan = lambda number, nth: ""
    server.lost_batches = 1
    monkeypatch.setattr(batches, "draw_wait", lambda first_s, tries: 0.0)
    found = ask(open_batched(server, style), 5)
    assert {response.status for response in found.values()} == {"answered"}
    assert len(server.batches) == 1


@STYLES
@pytest.mark.parametrize("listed", [None, [{}], [{"id": "b", "created_at": [], "metadata": 3}]])
def test_a_server_that_lists_no_batches_as_we_know_it_is_sent_another(
    server: JudgeServer, style: str, listed: Any, monkeypatch: Any
) -> None:
    server.plan = lambda number, nth: ""
    server.lost_batches, server.lists_batches = 1, listed is not None
    monkeypatch.setattr("fakes.judge_server.list_page", lambda *args: {"data": listed})
    monkeypatch.setattr(batches, "draw_wait", lambda first_s, tries: 0.0)
    assert len(ask(open_batched(server, style), 5)) == 5
    assert len(server.batches) == 2


@STYLES
def test_one_by_one_and_by_the_batch_share_a_journal(server: JudgeServer, style: str) -> None:
    server.plan = lambda number, nth: ""
    ask(open_batched(server, style), 3)
    spec = f"api('{style}-m', base_url={server.url!r}, style={style!r})"
    assert all(response.is_recalled for response in ask(open_respondent(spec), 3).values())


@STYLES
def test_a_question_that_never_comes_through_fails_alone(server: JudgeServer, style: str) -> None:
    server.plan = lambda number, nth: "500" if number == 1 else ""
    found = ask(open_batched(server, style), 3)
    assert [found[f"q{n}"].status for n in range(3)] == ["answered", "failed", "answered"]
    assert found["q1"].problem.endswith("overloaded after 5 tries")


def test_a_budget_sends_what_can_be_paid_for(server: JudgeServer) -> None:
    server.plan = lambda number, nth: ""
    with open_account(budget=0.002) as account:
        found = ask(open_batched(server, "openai"), 60)
        assert account.cost is not None
        assert 0.001 < account.cost <= 0.002
        assert account.unasked == sum(each.status == "failed" for each in found.values()) > 0


def test_a_batch_that_the_server_cannot_read_is_one_line(server: JudgeServer) -> None:
    def fail(*args: Any) -> dict[str, Any]:
        errors = {"data": [{"message": "line 1 is no JSON"}]}
        return {"id": "batch-0", "status": "failed", "errors": errors}

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fakes.judge_server.poll_batch", fail)
        with pytest.raises(UserError, match=r"the batch failed \(line 1 is no JSON\)"):
            ask(open_batched(server, "openai"), 2)
