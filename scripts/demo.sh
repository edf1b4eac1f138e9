#!/bin/sh
# Shows the main features in a temporary store, which is removed at the end.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/dist:$PATH
QUEUECTL_HOME=$(mktemp -d)
export PATH QUEUECTL_HOME
unset QUEUECTL_DB QUEUECTL_DB_PATH
cd "$QUEUECTL_HOME"
trap 'queuectl worker stop --force >/dev/null 2>&1; cd /; rm -rf "$QUEUECTL_HOME"' EXIT

if [ -t 1 ]; then bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m'); else bold='' dim='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() {
  printf '%s$%s %s\n' "$dim" "$plain" "$*"
  eval "$*"
}

say 'Enqueue three jobs: one succeeds, one fails once, one always fails'
show "queuectl enqueue --id good 'echo hello from \$(hostname)'"
show "queuectl enqueue --id flaky 'test -e seen || { touch seen; echo not yet; exit 1; }; echo now it works'"
show "queuectl enqueue --id hopeless --max-retries 2 'echo cannot reach the moon >&2; exit 3'"
show 'queuectl list'

say 'Start two workers. Failed jobs are retried after 2s, 4s, …; --drain stops the workers when all jobs are done'
show 'queuectl worker start --count 2 --drain'

say 'Check the results'
show 'queuectl status'
show 'queuectl logs flaky'
show 'queuectl show flaky'

say 'The job that always fails is in the dead letter queue, with its error'
show 'queuectl dlq list'

say 'Retry it: it is pending again, with all its attempts'
show 'queuectl dlq retry hopeless'
show 'queuectl list --state pending'

say 'Try it yourself'
cat <<'END'
  npm link                            put queuectl on your PATH
  queuectl enqueue 'echo hello'       add a job
  queuectl worker start               run jobs (Ctrl-C stops after the running jobs)
  queuectl status                     show the state of the queue
  queuectl help                       list all commands
END
