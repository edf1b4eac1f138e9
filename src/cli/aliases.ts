/**
 * Other words for commands. The key is the command, perhaps with a flag, and the values are words that mean the same. Only
 * the help of the command itself lists them. A word that could mean several things belongs in `MEANT` instead.
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
  'queue delete': ['queue remove', 'queue rm'],

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
  'worker list': [
    'worker status',
    'worker ls',
    'worker show',
    'worker info',
    'worker health',
    'list workers',
  ],

  status: ['stat', 'state', 'summary', 'overview', 'count'],
  top: ['monitor', 'watch'],
  stats: ['statistics', 'stats show'],
  'events --job': ['audit'],
  serve: [
    'web',
    'ui',
    'server',
    'api',
    'web start',
    'ui start',
    'server start',
    'dashboard start',
    'metrics serve',
    'serve start',
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

/** Other words for groups of commands. Without a command of the group, they list what the group is about. */
export const GROUP_ALIASES: Record<string, readonly string[]> = {
  dlq: ['dead', 'deadletter', 'dead-letter', 'dead-letters'],
  queue: ['queues', 'group', 'groups'],
  schedule: ['schedules', 'cron', 'crontab'],
  worker: ['workers'],
  config: ['settings', 'cfg'],
};

/** Words before a command about jobs that add nothing to it, as in `job show job1`. Alone, they list the jobs. */
export const JOB_WORDS: readonly string[] = ['job', 'jobs', 'task', 'tasks'];

const REMOVE = 'queuectl delete --state completed, queuectl dlq purge, or queuectl prune';

/** Words that could mean several commands, or none that queuectl has, with the command lines that may be meant. */
export const MEANT: Record<string, string> = {
  pause:
    'queuectl queue pause QUEUE, queuectl suspend ID (a running job) or queuectl hold ID (a waiting job)',
  resume:
    'queuectl queue resume QUEUE, queuectl continue ID (a suspended job) or queuectl release ID (a held job)',
  unpause: 'queuectl queue resume QUEUE',
  restart: 'queuectl retry ID (a job), or queuectl worker stop and queuectl worker start --detach',
  'worker restart': 'queuectl worker stop, then queuectl worker start --detach',
  'worker scale': 'queuectl worker start --count N starts more workers; queuectl worker stop ID stops one',
  'worker pause': 'queuectl queue pause --all',
  'worker resume': 'queuectl queue resume --all',
  'worker kill': 'queuectl worker stop --force',
  'worker logs': 'queuectl events --follow; workers in the foreground print their log to stderr',
  clear: REMOVE,
  clean: REMOVE,
  cleanup: REMOVE,
  purge: REMOVE,
  flush: REMOVE,
  reset: REMOVE,
  wipe: REMOVE,
  'queue clear': 'queuectl delete --queue QUEUE --state pending',
  'queue purge': 'queuectl delete --queue QUEUE --state pending',
  'queue empty': 'queuectl delete --queue QUEUE --state pending',
  'queue flush': 'queuectl delete --queue QUEUE --state pending',
  'queue drain': 'queuectl worker start --queue QUEUE --drain',
  drain: 'queuectl worker start --drain',
  parallel: 'queuectl worker start --count N, or queuectl queue set QUEUE --concurrency N',
  scale: 'queuectl worker start --count N',
  at: "queuectl enqueue --run-at '14:30' 'COMMAND'",
  delay: "queuectl enqueue --delay 10m 'COMMAND'",
  promote: 'queuectl edit ID --run-at now',
  priority: 'queuectl edit ID --priority high',
  switch: 'queuectl edit ID --priority high',
  move: 'queuectl edit ID --set-queue QUEUE',
  env: 'queuectl edit ID --env NAME=VALUE',
  set: 'queuectl config set KEY VALUE, or queuectl edit ID',
  unset: 'queuectl config unset KEY',
  history: 'queuectl list --state completed, or queuectl events',
  webhook: 'queuectl help hooks',
  hook: 'queuectl help hooks',
  hooks: 'queuectl help hooks',
  'config edit': 'queuectl config set KEY VALUE',
  'config export': 'queuectl config list --json',
  'dlq count': 'queuectl list --state dead --quiet | wc -l, or queuectl status',
  'dlq stats': 'queuectl status',
  'db vacuum': 'queuectl doctor',
  'db reset': REMOVE,
};

/** The commands that are probably meant if a group is given flags and no command. */
export const GROUP_DEFAULTS: Record<string, string> = {
  worker: 'worker start',
  schedule: 'schedule add NAME',
  dlq: 'dlq list',
  queue: 'queue list',
  config: 'config list',
  db: 'db check',
};

/** Other names of flags, for every command that has the flag. One letter is a short flag. Job fields have more. */
export const FLAG_ALIASES: Record<string, readonly string[]> = {
  all: ['a'],
  after: ['dependency', 'needs', 'parent'],
  attempt: ['run'],
  concurrency: ['threads', 'slots', 'parallel', 'j'],
  count: ['workers', 'num-workers', 'processes', 'n', 'w'],
  cwd: ['chdir', 'dir', 'workdir', 'working-dir', 'working-directory'],
  db: ['database', 'db-path'],
  delay: ['countdown', 'in'],
  detach: ['daemon', 'detached', 'background', 'bg', 'd'],
  drain: ['burst', 'once'],
  env: ['environment'],
  format: ['output', 'o'],
  hold: ['held', 'paused', 'stashed'],
  host: ['bind', 'address'],
  id: ['i'],
  json: ['json-output', 'as-json'],
  limit: ['max'],
  lines: ['tail'],
  name: ['label', 'job-name'],
  open: ['browser'],
  port: ['p'],
  priority: ['prio'],
  queue: ['group', 'pool', 'queues'],
  'run-at': ['at', 'eta', 'not-before', 'start-at', 'when'],
  state: ['status', 'states'],
  timeout: ['time-limit', 'max-runtime'],
  tz: ['timezone', 'time-zone'],
  wait: ['sync'],
  wide: ['no-trunc'],
  yes: ['force', 'confirm', 'assume-yes'],
};

/** Flags that ask for what the command does anyway. They have no effect. */
export const DEFAULT_FLAGS: Record<string, readonly string[]> = {
  list: ['all'],
  'dlq list': ['all'],
  'dlq retry': ['reset', 'reset-attempts', 'r'],
  'worker start': ['foreground', 'fg'],
  'worker stop': ['graceful', 'wait'],
};

/** Flags whose value is an argument of the command, by the placeholder of the argument. */
export const ARGUMENT_FLAGS: Record<string, readonly string[]> = {
  ID: ['id', 'job-id', 'job', 'worker-id'],
  QUEUE: ['queue'],
  KEY: ['key'],
  VALUE: ['value'],
  'bash|zsh|fish': ['shell'],
};
