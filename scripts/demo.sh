#!/bin/sh
# Shows the main job in one go, in a store of its own that is gone afterwards.
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

say 'Three jobs: a good one, a flaky one, a hopeless one'
show "queuectl enqueue --id good 'echo hello from \$(hostname)'"
show "queuectl enqueue --id flaky 'test -e seen || { touch seen; echo not yet; exit 1; }; echo now it works'"
show "queuectl enqueue --id hopeless --max-retries 2 'echo cannot reach the moon >&2; exit 3'"
show 'queuectl list'

say 'Two workers run them: failures wait 2 s, 4 s, … and are tried again; --drain stops when all is done'
show 'queuectl worker start --count 2 --drain'

say 'What came of it'
show 'queuectl status'
show 'queuectl logs flaky'
show 'queuectl show flaky'

say 'The hopeless one is in the dead letter queue, with the reason'
show 'queuectl dlq list'

say 'Put it back, and it gets all its attempts again'
show 'queuectl dlq retry hopeless'
show 'queuectl list --state pending'

say 'Now yours'
cat <<'END'
  npm link                            puts queuectl on your PATH
  queuectl enqueue 'echo hello'       add a job
  queuectl worker start               run jobs (Ctrl-C stops when the running ones are done)
  queuectl status                     see how it goes
  queuectl help                       everything else
END
