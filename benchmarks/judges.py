"""Two thousand questions to a server that does everything wrong, and whether any is lost.

    python benchmarks/judges.py                  # about seven minutes
    python benchmarks/judges.py --questions 300 --late-s 4

The server takes so many requests a second and turns the others away. Of three in ten it drops the
connection, answers half a JSON, nothing or another shape, is 40 s late, refuses, or says nonsense,
a wrong number or something in another language; all answers come out of order. First everything in
one go, with the limit told, without, and told by the server's headers alone; then with `kill -9` at
three moments. Nothing may be lost, no answer that had come asked for again, the cost exact, and at
least 90 % of the limit used. Exit status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from fabula.models.asking.opening import open_respondent
from fabula.models.asking.question import Question
from fabula.models.asking.spending import open_account
from fabula.models.servers.wire import Wish

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from fakes.judge_server import TRANSIENT, JudgeServer, spoil

PRICE_IN, PRICE_OUT, SHARE = 3.0, 15.0, 0.9
WISH = Wish(max_tokens=16, temperature=0.0, top_p=1.0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--per-second", type=float, default=30.0)
    parser.add_argument("--late-s", type=float, default=40.0)
    parser.add_argument("--child", nargs=3, metavar=("URL", "JOURNAL", "LIMIT"))
    options = parser.parse_args()
    if options.child:
        ask(options.questions, *options.child)
        return
    is_well = all(
        [
            run(options, limit=options.per_second * 60, kills=0),
            run(options, limit=0.0, kills=0),
            run(options, limit=0.0, kills=0, tells_room=True),
            run(options, limit=options.per_second * 60, kills=3),
        ]
    )
    sys.exit(0 if is_well else 1)


def ask(count: int, url: str, journal: str, limit: str) -> None:
    """Ask in a process of its own; print each answer as it comes, and the account at the end."""
    pace = f", requests_per_minute={limit}" if float(limit) else ", max_concurrent=64"
    prices = f"price_in={PRICE_IN}, price_out={PRICE_OUT}"
    respondent = open_respondent(
        f"api('m', base_url={url!r}, {prices}{pace})", journal=Path(journal)
    )
    questions = (Question(str(n), f"Rate story {n}.", wish=WISH) for n in range(count))
    with open_account() as account:
        for response in respondent.ask(questions):
            print(json.dumps([int(response.key), response.status]), flush=True)
    books = {name: getattr(account, name) for name in ("cost", "answered", "recalled")}
    print(json.dumps(books), flush=True)


def run(options: Any, *, limit: float, kills: int, tells_room: bool = False) -> bool:
    """Ask everything, killed so many times on the way; say what came of it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(
            JudgeServer(
                spoil,
                per_second=options.per_second,
                latency_s=(0.1, 0.6),
                late_s=options.late_s,
                tells_room=tells_room,
            )
        ) as server,
    ):
        order = [sys.executable, __file__, "--questions", str(options.questions), "--child"]
        order += [server.url, f"{folder}/journal.jsonl", str(limit)]
        told: dict[int, int] = {}
        for number in range(kills):
            told |= run_until(order, server, options.questions * (number + 1) // (kills + 1))
        lines = subprocess.run(order, check=True, capture_output=True, text=True).stdout
        *answers, books = [json.loads(line) for line in lines.splitlines()]
        teller = "the user" if limit else "headers" if tells_room else "nobody"
        how = f"limit told by {teller}, killed {kills} times"
        return check(options, server, answers, books, told=told, how=how, kills=kills)


def run_until(order: list[str], server: JudgeServer, count: int) -> dict[int, int]:
    """Run until the server has delivered so many answers, and kill it.

    Gives how often each answer that it had printed was asked for by then.
    """
    with subprocess.Popen(order, stdout=subprocess.PIPE, text=True) as child:
        while len(server.delivered) < count and child.poll() is None:
            time.sleep(random.uniform(0.01, 0.05))
        child.kill()
        assert child.stdout is not None
        lines = [line for line in child.stdout if line.endswith("]\n")]
    return {number: server.asked[number] for number, _ in map(json.loads, lines)}


def check(
    options: Any,
    server: JudgeServer,
    answers: list[Any],
    books: dict[str, Any],
    *,
    told: dict[int, int],
    how: str,
    kills: int,
) -> bool:
    count = options.questions
    lost = set(range(count)) - {number for number, _ in answers}
    failed = [number for number, status in answers if status == "failed"]
    expected = {n: 2 if spoil(n, 1) in TRANSIENT else 1 for n in range(count)}
    again = {n for n in range(count) if server.asked[n] > expected[n]}
    twice = {n for n, times in told.items() if server.asked[n] > times}
    billed = (server.tokens_in * PRICE_IN + server.tokens_out * PRICE_OUT) / 1e6
    took_s = server.taken_at[-1] - server.taken_at[0]
    # The server's bucket holds a second's worth when it begins.
    share = len(server.taken_at) / (options.per_second * (took_s + 1))
    print(f"{how}: {count:,} questions, {len(server.taken_at):,} requests in {took_s:.1f} s")
    print(f"  lost {len(lost)}, failed {len(failed)}, turned away {server.turned_away}")
    print(f"  answered and asked again {len(twice)}; on their way when killed {len(again)}")
    print(f"  share of the limit {share:.3f}; cost {books['cost']:.9f}, billed {billed:.9f}")
    is_well = not lost and not failed and not twice and len(answers) == count
    if kills:  # the processes that were killed had starts and ends of their own
        return is_well and books["answered"] + books["recalled"] == count
    return is_well and not again and share >= SHARE and abs(books["cost"] - billed) < 1e-12


if __name__ == "__main__":
    main()
