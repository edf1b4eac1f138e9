import type { Command } from './command.ts';

export type Load = () => Promise<{ default: Command }>;

export interface Group {
  summary: string;
  commands: Record<string, Load>;
}

/** Every command, each behind an import of its own: starting one loads no other. */
export const COMMANDS: Record<string, Load | Group> = {
  enqueue: () => import('./commands/enqueue.ts'),
  run: () => import('./commands/run.ts'),
  status: () => import('./commands/status.ts'),
  list: () => import('./commands/list.ts'),
  show: () => import('./commands/show.ts'),
  logs: () => import('./commands/logs.ts'),
  wait: () => import('./commands/wait.ts'),
  cancel: () => import('./commands/cancel.ts'),
  retry: () => import('./commands/retry.ts'),
  delete: () => import('./commands/delete.ts'),
  edit: () => import('./commands/edit.ts'),
  hold: () => import('./commands/hold.ts'),
  release: () => import('./commands/release.ts'),
  suspend: () => import('./commands/suspend.ts'),
  continue: () => import('./commands/continue.ts'),
  top: () => import('./commands/top.ts'),
  stats: () => import('./commands/stats.ts'),
  explain: () => import('./commands/explain.ts'),
  events: () => import('./commands/events.ts'),
  queue: {
    summary: 'Queues: pause them, limit them',
    commands: {
      list: () => import('./commands/queue-list.ts'),
      pause: () => import('./commands/queue-pause.ts'),
      resume: () => import('./commands/queue-resume.ts'),
      set: () => import('./commands/queue-set.ts'),
      delete: () => import('./commands/queue-delete.ts'),
    },
  },
  schedule: {
    summary: 'Schedules: jobs that are enqueued again and again',
    commands: {
      add: () => import('./commands/schedule-add.ts'),
      list: () => import('./commands/schedule-list.ts'),
      show: () => import('./commands/schedule-show.ts'),
      edit: () => import('./commands/schedule-edit.ts'),
      remove: () => import('./commands/schedule-remove.ts'),
      pause: () => import('./commands/schedule-pause.ts'),
      resume: () => import('./commands/schedule-resume.ts'),
      run: () => import('./commands/schedule-run.ts'),
    },
  },
  worker: {
    summary: 'Start, stop and list workers',
    commands: {
      start: () => import('./commands/worker-start.ts'),
      stop: () => import('./commands/worker-stop.ts'),
      list: () => import('./commands/worker-list.ts'),
    },
  },
  dlq: {
    summary: 'The dead letter queue: jobs that were given up',
    commands: {
      list: () => import('./commands/dlq-list.ts'),
      show: () => import('./commands/dlq-show.ts'),
      retry: () => import('./commands/dlq-retry.ts'),
      purge: () => import('./commands/dlq-purge.ts'),
    },
  },
  config: {
    summary: 'Settings, kept in the store and shared by all workers',
    commands: {
      list: () => import('./commands/config-list.ts'),
      get: () => import('./commands/config-get.ts'),
      set: () => import('./commands/config-set.ts'),
      unset: () => import('./commands/config-unset.ts'),
    },
  },
  serve: () => import('./commands/serve.ts'),
  dashboard: () => import('./commands/dashboard.ts'),
  completion: () => import('./commands/completion.ts'),
  doctor: () => import('./commands/doctor.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
  export: () => import('./commands/export.ts'),
  import: () => import('./commands/import.ts'),
  db: {
    summary: 'The database file: check it, repair it',
    commands: {
      check: () => import('./commands/db-check.ts'),
      repair: () => import('./commands/db-repair.ts'),
    },
  },
  prune: () => import('./commands/prune.ts'),
  metrics: () => import('./commands/metrics.ts'),
  version: () => import('./commands/version.ts'),
};

/** Not for people: how a shell asks what may come next (cli/complete.ts). */
export const COMPLETE = '__complete';

/** Not for people: how a supervisor starts its workers. */
export const WORKER_PROCESS = '__worker';

export function isGroup(entry: Load | Group): entry is Group {
  return typeof entry !== 'function';
}
