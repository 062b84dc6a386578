#!/usr/bin/env bash
# A newcomer's first hour with Fabula, from a fresh clone: the README's first things, with files as
# people have them. Every command must end as its line says, and print nothing twice.
#
#     bash examples/first_hour.sh            # in .venv, where `make demo` puts everything
#     VENV=/elsewhere bash examples/first_hour.sh
set -euo pipefail
clone=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${VENV:-$clone/.venv}
files=$clone/examples/first_hour
hour=$(mktemp -d)
trap 'rm -rf "$hour"' EXIT

# try STATUS WORDS -- COMMAND…: run it, show it, and hold it to its word. WORDS must be printed.
try() {
  local status=$1 words=$2 got=0
  shift 3
  printf '\n$ %s\n' "$*"
  "$@" >"$hour/printed" 2>&1 </dev/null || got=$?
  cat "$hour/printed"
  [ "$got" = "$status" ] || fail "ended with $got, not $status: $*"
  grep -qF -- "$words" "$hour/printed" || fail "did not say '$words': $*"
  ! grep -q Traceback "$hour/printed" || fail "a traceback: $*"
  # Rules of tables and words of one column may come again; a sentence may not.
  local twice
  twice=$(grep -E '([[:alpha:]]+ ){2}[[:alpha:]]+' "$hour/printed" | sort | uniq -d || true)
  [ -z "$twice" ] || fail "printed twice: $twice"
}
fail() { printf '\nfirst hour: %s\n' "$1" >&2; exit 1; }

cd "$clone"
try 0 "bin/fabula" -- make --no-print-directory demo VENV="$VENV"

PATH=$VENV/bin:$PATH
cd "$hour"
# Files as people have them.
try 0 "semicolon" -- fabula score "$files/from-excel.csv" -m baselines
try 0 "Stories" -- fabula score "$files/stories.xlsx" -m "rouge, bleu, mattr" \
  -c references="human story" -o runs/excel
try 2 "scan.txt" -- fabula score "$files/drafts" -m baselines
try 0 "scan.txt" -- fabula score "$files/drafts" -m baselines --skip-bad -o runs/drafts

# Two systems, a file each; then another metric for the same run; then which is better.
systems=("$files/tall-model.jsonl" "$files/small-model.jsonl")
try 0 "tall-model" -- fabula score "${systems[@]}" -m "rouge, distinct(n=2)" -o runs/both
try 0 "chrf" -- fabula score "${systems[@]}" -m chrf -o runs/both
try 0 "6 shared items" -- fabula compare runs/both tall-model small-model
try 0 "tall-model" -- fabula score "${systems[0]}" -m "rouge, chrf" -o runs/tall-model
try 0 "small-model" -- fabula score "${systems[1]}" -m "rouge, chrf" -o runs/small-model
try 0 "6 shared items" -- fabula compare runs/tall-model runs/small-model

# Which metric to believe, of ratings with decimal commas.
try 0 "my_metric" -- fabula meta "$files/from-excel.csv" --gold overall

# Mistakes.
try 2 "did you mean" -- fabula score "$files/stories.xlsx" -m roug
try 2 "no such file" -- fabula score storys.csv
cp "$files/tall-model.jsonl" stories.jsonl
try 2 "stories.jsonl" -- fabula score stories.jsonl -m words -o .
cmp stories.jsonl "$files/tall-model.jsonl" || fail "the user's stories were written over"

# In Python: plain lists, and a data frame once pandas is there, by the line that Fabula gives.
try 0 "bleu" -- python -c '
from fabula import evaluate
print(evaluate(["The lamp went out."], "bleu", references=["The lamp failed."]))'
frame='
import pandas as pd
from fabula import evaluate
rows = pd.DataFrame({"story": ["The lamp went out.", "Nobody lit it."], "system": ["a", "b"]})
print(evaluate(rows, "words, mattr").to_pandas()[["system", "scorer", "value"]])'
if ! python -c 'import pandas, pyarrow' 2>/dev/null; then
  try 1 "pip install" -- python -c '
import sys, fabula
try:
    fabula.evaluate("The lamp went out.", "words").to_pandas()
except fabula.UserError as error:
    sys.exit(error)'
  hint=$(sed -n "s/.*run: \(.*pip install .*\)/\1/p" "$hour/printed" | tail -1)
  printf '\n$ %s\n' "$hint"
  eval "$hint" >"$hour/printed" 2>&1 || { cat "$hour/printed"; fail "the hint does not work: $hint"; }
fi
try 0 "mattr" -- python -c "$frame"

try 0 "metrics" -- fabula doctor
printf '\nfirst hour: all well\n'
