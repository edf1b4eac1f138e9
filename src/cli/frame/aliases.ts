/**
 * Other words for commands. The key is the command, perhaps with a flag, and the values are words that mean the same. Only
 * the help of the command itself lists them. A word that could mean several things belongs in `COMMAND_HINTS` instead.
 */
export const COMMAND_ALIASES: Record<string, readonly string[]> = {
  enqueue: ['add', 'push', 'submit'],
  'enqueue --again': ['rerun'],
  'enqueue --file': ['batch'],
  list: ['ls', 'ps', 'list jobs'],
  show: ['info', 'get', 'inspect', 'describe', 'view', 'job status'],
  logs: ['log', 'output', 'cat'],
  'logs --follow': ['follow', 'tail'],
  explain: ['why'],
  cancel: ['kill', 'abort'],
  retry: ['requeue'],
  delete: ['rm', 'remove', 'del'],
  edit: ['update', 'modify'],
  hold: ['stash'],
  release: ['unhold', 'unstash'],

  'dlq list': ['dlq ls', 'dlq jobs'],
  'dlq show': ['dlq info', 'dlq get', 'dlq inspect', 'dlq view'],
  'dlq retry': ['dlq requeue', 'dlq replay', 'dlq redrive'],
  'dlq retry --all': ['dlq retry-all'],
  'dlq purge': ['dlq clear', 'dlq delete', 'dlq remove', 'dlq rm', 'dlq empty', 'dlq flush'],

  'queue list': ['queue ls', 'queue status', 'list queues'],
  'queue set': ['queue add', 'queue create', 'queue update', 'queue limit'],
  'queue resume': ['queue unpause', 'queue continue'],
  'queue delete': ['queue remove', 'queue rm', 'queue del'],

  'schedule add': ['schedule create', 'schedule new'],
  'schedule list': ['schedule ls', 'list schedules'],
  'schedule show': ['schedule info', 'schedule get', 'schedule view'],
  'schedule edit': ['schedule update', 'schedule set'],
  'schedule remove': ['schedule delete', 'schedule rm', 'schedule del'],
  'schedule pause': ['schedule disable', 'schedule stop'],
  'schedule resume': ['schedule enable', 'schedule unpause', 'schedule start'],
  'schedule run': ['schedule trigger'],

  'worker start': ['start', 'worker run', 'worker up'],
  'worker stop': ['stop', 'shutdown', 'worker stop-all', 'worker shutdown', 'worker down'],
  'worker list': 'worker status|worker ls|worker show|worker info|worker health|list workers'.split('|'),

  status: ['stat', 'state', 'summary', 'overview', 'count'],
  top: ['monitor', 'watch'],
  stats: ['statistics', 'stats show'],
  'events --job': ['audit'],
  serve: [
    ...['web', 'ui', 'server', 'api', 'web start', 'ui start', 'server start', 'dashboard start'],
    ...['metrics serve', 'serve start'],
  ],
  'serve --open': ['dashboard open'],
  metrics: ['metrics show', 'metrics export'],

  'config list': ['config ls', 'config all'],
  'config get': ['config show', 'config view'],
  'config unset': ['config reset', 'config delete', 'config remove', 'config rm', 'config clear'],

  doctor: ['health', 'healthcheck', 'check', 'diagnose'],
  export: ['dump'],
  'db migrate': ['migrate', 'migrate run', 'migrate up', 'db upgrade'],
  'db migrate --dry-run': ['migrate status'],
  completion: ['completions', 'autocomplete'],
  init: ['init-db', 'initdb', 'setup', 'db init', 'db create', 'init db'],
};

/** Other words for groups of commands. Without a command after it, such a word means the group's `list` command. */
export const GROUP_ALIASES: Record<string, readonly string[]> = {
  dlq: ['dead', 'deadletter', 'dead-letter', 'dead-letters'],
  queue: ['queues', 'group', 'groups'],
  schedule: ['schedules', 'cron', 'crontab'],
  worker: ['workers'],
  config: ['settings', 'cfg'],
};

/** Words before a command about jobs that add nothing to it, as in `job show job1`. Without a command, they mean `list`. */
export const JOB_WORDS: readonly string[] = ['job', 'jobs', 'task', 'tasks'];

const REMOVE_HINT =
  'to delete completed jobs: queuectl delete --state completed; to delete dead jobs: queuectl dlq purge; to remove old jobs: queuectl prune';
const RESTART_HINT = 'to restart the workers: queuectl worker stop, then queuectl worker start --detach';
const MORE_WORKERS_HINT = 'to start more workers: queuectl worker start --count N';
const EMPTY_QUEUE_HINT =
  'to delete the waiting jobs of a queue: queuectl delete --queue QUEUE --state pending';
const TAKE_HINT =
  'to run the waiting jobs: queuectl worker start --drain; to take a job out of its queue: queuectl cancel ID';

const sameHint = (hint: string, ...words: string[]): Record<string, string> =>
  Object.fromEntries(words.map((word) => [word, hint]));

/** Hints for words that could mean several commands, or a command that queuectl does not have. */
export const COMMAND_HINTS: Record<string, string> = {
  pause:
    'to pause a queue: queuectl queue pause QUEUE; to suspend a running job: queuectl suspend ID; to hold a waiting job: queuectl hold ID',
  resume:
    'to resume a queue: queuectl queue resume QUEUE; to continue a suspended job: queuectl continue ID; to release a held job: queuectl release ID',
  unpause: 'to resume a queue: queuectl queue resume QUEUE',
  restart: `to retry a job: queuectl retry ID; ${RESTART_HINT}`,
  'worker restart': RESTART_HINT,
  'worker scale': `${MORE_WORKERS_HINT}; to stop one: queuectl worker stop ID`,
  'worker pause': 'to pause all queues: queuectl queue pause --all',
  'worker resume': 'to resume all queues: queuectl queue resume --all',
  'worker kill': 'to stop the workers and their running jobs: queuectl worker stop --force',
  'worker logs': 'to follow the events: queuectl events --follow. Workers print their log to stderr',
  ...sameHint(REMOVE_HINT, 'clear', 'clean', 'cleanup', 'purge', 'flush', 'reset', 'wipe', 'db reset'),
  ...sameHint(EMPTY_QUEUE_HINT, 'queue clear', 'queue purge', 'queue empty', 'queue flush'),
  'queue drain': 'to run all jobs of a queue and exit: queuectl worker start --queue QUEUE --drain',
  ...sameHint(TAKE_HINT, 'dequeue', 'unqueue', 'pop'),
  drain: 'to run all jobs and exit: queuectl worker start --drain',
  parallel: `${MORE_WORKERS_HINT}; to limit a queue: queuectl queue set QUEUE --concurrency N`,
  scale: MORE_WORKERS_HINT,
  at: "to run a command at a time: queuectl enqueue --run-at '14:30' 'COMMAND'",
  delay: "to run a command later: queuectl enqueue --delay 10m 'COMMAND'",
  promote: 'to run a delayed job now: queuectl edit ID --run-at now',
  ...sameHint('to change the priority of a job: queuectl edit ID --priority high', 'priority', 'switch'),
  move: 'to move a job to another queue: queuectl edit ID --set-queue QUEUE',
  env: 'to change the variables of a job: queuectl edit ID --env NAME=VALUE',
  set: 'to change a setting: queuectl config set KEY VALUE; to change a job: queuectl edit ID',
  unset: 'to reset a setting: queuectl config unset KEY',
  history: 'to list completed jobs: queuectl list --state completed; to list events: queuectl events',
  ...sameHint('to read about hooks: queuectl help hooks', 'webhook', 'hook', 'hooks'),
  'config edit': 'to change a setting: queuectl config set KEY VALUE',
  'config export': 'to print the settings as JSON: queuectl config list --json',
  ...sameHint('to count the jobs: queuectl status', 'dlq count', 'dlq stats'),
  'db vacuum': 'to check the database: queuectl doctor',
};

/** The command that the error suggests if a group is given flags but no command. */
export const GROUP_EXAMPLES: Record<string, string> = {
  worker: 'worker start',
  schedule: 'schedule add NAME',
  dlq: 'dlq list',
  queue: 'queue list',
  config: 'config list',
  db: 'db check',
};

/** Other names of flags, for every command that has the flag. One letter is a short flag. job-flags.ts adds more. */
export const FLAG_ALIASES: Record<string, readonly string[]> = {
  all: ['a'],
  after: ['dependency', 'needs', 'parent'],
  attempt: ['run'],
  concurrency: ['threads', 'slots', 'parallel', 'j'],
  count: ['workers', 'num-workers', 'processes', 'n', 'w'],
  cwd: ['chdir', 'dir', 'workdir', 'working-dir', 'working-directory'],
  db: ['database', 'db-path'],
  delay: ['countdown', 'in'],
  detach: ['daemon', 'detached', 'daemonize', 'background', 'bg', 'd'],
  drain: ['burst', 'once'],
  env: ['environment'],
  format: ['output', 'o'],
  hold: ['held', 'paused', 'stashed'],
  host: ['bind', 'address'],
  id: ['i'],
  json: ['json-output', 'as-json'],
  limit: ['max'],
  lines: ['tail'],
  name: ['job-name'],
  open: ['browser'],
  port: ['p'],
  priority: ['prio'],
  queue: ['group', 'pool', 'queues'],
  'run-at': ['at', 'eta', 'not-before', 'start-at', 'when'],
  state: ['status', 'states'],
  timeout: ['time-limit', 'max-runtime'],
  tz: ['timezone', 'time-zone'],
  wait: ['sync'],
  'waiting-for': ['reason', 'waiting-reason'],
  wide: ['no-trunc'],
  yes: ['force', 'confirm', 'assume-yes'],
};

/** Flags that ask for what the command does anyway. They are accepted and have no effect. */
export const IGNORED_FLAGS: Record<string, readonly string[]> = {
  list: ['all'],
  'dlq list': ['all'],
  'dlq retry': ['reset', 'reset-attempts', 'r'],
  'worker start': ['foreground', 'fg'],
  'worker stop': ['graceful', 'wait'],
};

/** Flags that a user may put in front of an argument, as in `--id job1`, by the placeholder of the argument. */
export const ARGUMENT_FLAGS: Record<string, readonly string[]> = {
  ID: ['id', 'job-id', 'job', 'worker-id'],
  QUEUE: ['queue'],
  KEY: ['key'],
  VALUE: ['value'],
  'bash|zsh|fish': ['shell'],
};
