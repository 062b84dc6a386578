"""`fabula score` with judges: an estimate, a budget, the bill."""

from __future__ import annotations

import json

STORIES = "".join(
    json.dumps({"id": f"s{n}", "text": f"Once {n} doors opened. Nobody came.", "prompt": "Doors."})
    + "\n"
    for n in range(4)
)
JUDGE = "judge(model='fake()')"


def test_a_judge_scores_like_any_metric_and_says_what_was_asked(fabula, tmp_path):
    (tmp_path / "in.jsonl").write_text(STORIES)
    done = fabula("score", "in.jsonl", "-m", JUDGE, "-m", "words", "-o", "run", "--no-report")
    said = done.stderr.decode()
    assert "judges: 24 answers" in said and "cost 0.0000" in said
    lines = (tmp_path / "run" / "scores.jsonl").read_text().splitlines()
    scores = [json.loads(line) for line in lines]
    judged = [score for score in scores if score["scorer"] == "judge(model='fake')"]
    assert len(judged) == 24
    assert {score["value"] for score in judged} <= {1, 2, 3, 4, 5}
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert "prompt:material/" in record["metrics"][0]["signature"]
    assert record["metrics"][0]["family"] == "judge"
    again = fabula("score", "in.jsonl", "-m", JUDGE, "--no-cache")
    assert "judges: 0 answers, 24 from before" in again.stderr.decode()


def test_a_dry_run_asks_nobody_and_writes_nothing(fabula, tmp_path):
    (tmp_path / "in.jsonl").write_text(STORIES)
    done = fabula("score", "in.jsonl", "-m", f"{JUDGE},words", "--dry-run", "-o", "run")
    said = done.stdout.decode()
    assert "questions    24, of which 0 were answered before" in said
    assert "cost         about 0.0000, at most 0.0000" in said
    assert said.endswith("nothing was asked\n")
    assert not (tmp_path / "run").exists()


def test_a_budget_that_is_too_small_leaves_questions_unasked(fabula, tmp_path):
    (tmp_path / "in.jsonl").write_text(STORIES)
    # Nobody listens there: what is asked would fail, and nothing may be asked for no money.
    model = "api('m', base_url='http://127.0.0.1:9/v1', price_in=1.0, price_out=1.0)"
    done = fabula("score", "in.jsonl", "-m", f'judge(model="{model}")', "--budget", "0")
    assert "the budget of 0 does not suffice: 24 questions not asked" in done.stderr.decode()
    assert done.returncode == 0


def test_money_is_for_judges_alone_and_they_ask_in_one_process(fabula, tmp_path):
    (tmp_path / "in.jsonl").write_text(STORIES)
    for options in (["--dry-run"], ["--budget", "1"]):
        done = fabula("score", "in.jsonl", "-m", "words", *options)
        assert done.returncode == 2
        assert b"are for judges, and none is asked for" in done.stderr
    done = fabula("score", "in.jsonl", "-m", JUDGE, "-j", "2")
    assert done.returncode == 2
    assert b"a judge asks in one process" in done.stderr
