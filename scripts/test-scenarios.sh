#!/bin/sh
# Runs the five core scenarios as a user would type them, in a temporary store. Exits with 1 at the first failure.
# Tests the executable given by QUEUECTL, or else dist/queuectl.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
queuectl=${QUEUECTL:-$root/dist/queuectl}
QUEUECTL_HOME=$(mktemp -d)
export QUEUECTL_HOME
unset QUEUECTL_DB QUEUECTL_DB_PATH

finish() {
  "$queuectl" worker stop --force --timeout 20s >/dev/null 2>&1
  rm -rf "$QUEUECTL_HOME"
}
trap finish EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# until_true SECONDS COMMAND...: repeats the command until it succeeds. Fails after this many seconds.
until_true() {
  tries=$(($1 * 10))
  shift
  while [ "$tries" -gt 0 ]; do
    "$@" && return 0
    tries=$((tries - 1))
    sleep 0.1
  done
  return 1
}

# in_state JOB STATE: succeeds if the job is in this state.
in_state() { "$queuectl" list --state "$2" | cut -f1 | grep -qx "$1"; }
worker_count_is() { [ "$("$queuectl" worker list | wc -l)" -eq "$1" ]; }

echo '1. A job completes'
"$queuectl" enqueue '{"id":"job1","command":"echo hello"}' || fail 'enqueue job1'
"$queuectl" worker start --count 1 2>/dev/null &
until_true 60 in_state job1 completed || fail 'job1 is not completed'
"$queuectl" status || fail 'status'
"$queuectl" list --state completed
[ "$("$queuectl" logs job1)" = hello ] || fail 'the output of job1 is not hello'

echo '2. A failing job is retried and ends in the dead letter queue'
"$queuectl" enqueue '{"id":"job2","command":"exit 1","max_retries":3}' || fail 'enqueue job2'
until_true 60 in_state job2 dead || fail 'job2 is not dead'
"$queuectl" dlq list | grep '^job2' || fail 'job2 is not in dlq list'

echo '3. Several workers run jobs at the same time, each job once'
"$queuectl" worker start --count 3 2>/dev/null &
until_true 60 worker_count_is 4 || fail 'there are not 4 workers'
"$queuectl" enqueue "{\"id\":\"job3\",\"command\":\"sleep 2; echo 3 >>'$QUEUECTL_HOME/ran'\"}" || fail 'enqueue job3'
"$queuectl" enqueue "{\"id\":\"job4\",\"command\":\"sleep 2; echo 4 >>'$QUEUECTL_HOME/ran'\"}" || fail 'enqueue job4'
until_true 60 in_state job3 completed || fail 'job3 is not completed'
until_true 60 in_state job4 completed || fail 'job4 is not completed'
[ "$(sort "$QUEUECTL_HOME/ran" | tr -d '\n')" = 34 ] || fail 'job3 and job4 did not run once each'

echo '4. A command that does not exist fails with exit code 127'
"$queuectl" enqueue '{"id":"nope","command":"no-such-command-anywhere","max_retries":1}' || fail 'enqueue nope'
until_true 60 in_state nope dead || fail 'nope is not dead'
"$queuectl" dlq list | grep '^nope' | grep -q 127 || fail 'the exit code of nope is not 127'
"$queuectl" worker stop || fail 'worker stop'
wait

echo '5. Jobs survive a restart'
"$queuectl" enqueue '{"id":"job5","command":"echo still here"}' || fail 'enqueue job5'
in_state job5 pending || fail 'job5 is not pending'
"$queuectl" worker start --count 1 2>/dev/null &
until_true 60 in_state job5 completed || fail 'job5 is not completed after the restart'
"$queuectl" worker stop || fail 'the last worker stop'
wait
"$queuectl" status
echo 'all five scenarios passed'
