# What the gate and its jobs share; to be sourced. It goes to the repository's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python="$(command -v "${PYTHON:-python3.11}" || command -v python3)"
# "No compiling: no" is how pip reads this one: what is imported is compiled then, and only that. It is
# kept, whatever is said outside, for the many processes that tests start.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 PIP_NO_COMPILE=0 PYTHONDONTWRITEBYTECODE=

times=()
running=""
# Of a job that passes, `record` writes a row: the commit that it started at, and how many tests passed and were skipped (conftest.py).
job=""
if [ "$(basename "$(dirname "$0")")" = jobs ]; then
  job="$(basename "$0")"
  commit="$(git rev-parse HEAD 2> /dev/null || true)"
  mkdir -p .ci-venv
  export THINSTACK_JOB_COUNTS="$PWD/.ci-venv/counts.txt"
  rm -f "$THINSTACK_JOB_COUNTS"  # of an earlier run
fi

record() {
  local passed skipped
  read -r passed skipped < "$THINSTACK_JOB_COUNTS"
  "$python" .ci/passed.py record "$job" "$commit" "$SECONDS" "$passed" "$skipped"
}

# step NAME COMMAND...: runs it in this shell, and keeps the seconds it took.
step() {
  running="$1"
  local start=$SECONDS
  shift
  echo "== $running"
  "$@"
  times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$running")")
  running=""
}

declare -A begun

# begin NAME COMMAND...: runs it beside what follows, until `finish NAME`, which shows what it said.
begin() {
  local name="$1"
  shift
  mkdir -p .ci-venv
  ("$@") > ".ci-venv/$name.log" 2>&1 &
  begun[$name]=$!
}

finish() {
  local status=0
  wait "${begun[$1]}" || status=$?
  cat ".ci-venv/$1.log"
  return "$status"
}

summary() {
  local status=$?
  [ -z "$running" ] || [ $status -ne 0 ] || status=1  # stopped by a signal
  printf '%s\n' "== seconds" "${times[@]}" "$(printf '%5d s  in all' $SECONDS)"
  [ -z "$running" ] || echo "== failed: $running"
  [ $status -ne 0 ] || [ -z "$job" ] || record
  exit $status
}
trap summary EXIT

# The line of the README that starts with `pip install` and goes on with the word given.
readme_command() {
  grep -E "^pip install .* && $1" README.md || { echo "README.md: no line 'pip install ... && $1'" >&2; exit 1; }
}

# Activates a virtual environment, which is made first unless an earlier run has left it.
enter() {
  [ -x "$1/bin/python" ] || "$python" -m venv "$1"
  # shellcheck disable=SC1091
  source "$1/bin/activate"
}

# The README's environment for development, active afterwards.
enter_test() {
  local command
  command="$(readme_command pytest)"
  enter .ci-venv/test
  eval "${command%% &&*}"
}
