"""Packings a second on one core, for twelve segments that do not fit.

    python benchmarks/packing.py

Needs are drawn at random (seeded): up to 400 tokens there, the paper's minimums, any preferred
length and priority. Budgets are half of what is asked for, so that the solver has to decide. Every
packing is compared with the optimum found by hand: minimums by priority, then the preferred.
"""

from __future__ import annotations

import random
import time

from fabula.text.context.packing import Need, Packing, pack

SEGMENTS, ROUNDS, PASSES, BAR = 12, 2_000, 5, 5_000


def main() -> None:
    draw = random.Random(7)
    cases = [make_case(draw) for _ in range(ROUNDS)]
    wrong = sum(pack(needs, budget) != pack_by_hand(needs, budget) for needs, budget in cases)
    print(f"{ROUNDS:,} packings of {SEGMENTS} segments, {wrong} other than the optimum")
    kinds: tuple[Packing, ...] = ("solver", "greedy", "none")
    for kind in kinds:
        print(f"{kind:>7} {measure(cases, kind):>10,.0f} a second")
    rate = measure(cases, "solver")
    print(f"bar: {BAR:,} a second with the solver: {'passed' if rate >= BAR else 'FAILED'}")


def make_case(draw: random.Random) -> tuple[list[Need], int]:
    needs = []
    for _ in range(SEGMENTS):
        available = draw.randint(50, 400)
        minimum = draw.choice([20, 30, 50, 100, 250])
        preferred = draw.choice([None, draw.randint(0, available)])
        needs.append(Need(available, minimum, preferred, draw.randint(1, 6)))
    return needs, sum(need.most for need in needs) // 2


def pack_by_hand(needs: list[Need], budget: int) -> list[int]:
    """All that couples segments is the budget: who comes first takes what it asks for."""
    lengths = [0] * len(needs)
    ranks = sorted(range(len(needs)), key=lambda place: (-needs[place].priority, place))
    for wanted in ([need.least for need in needs], [need.most for need in needs]):
        for place in ranks:
            room = budget - sum(lengths)
            lengths[place] += min(room, wanted[place] - lengths[place])
    return lengths


def measure(cases: list[tuple[list[Need], int]], kind: Packing) -> float:
    times = []
    for _ in range(PASSES):
        begin = time.perf_counter()
        for needs, budget in cases:
            pack(needs, budget, packing=kind)
        times.append(time.perf_counter() - begin)
    return len(cases) / min(times)


if __name__ == "__main__":
    main()
