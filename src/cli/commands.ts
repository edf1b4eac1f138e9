import type { LoadCommand } from './command.ts';
import { TEXT_COMMANDS } from './text-commands.ts';

export interface CommandGroup {
  summary: string;
  commands: Record<string, LoadCommand>;
}

/** The commands by section of the help. Each has its own import, so that running one command loads no other. */
export const SECTIONS: Record<string, Record<string, LoadCommand | CommandGroup>> = {
  Jobs: {
    ...TEXT_COMMANDS,
    list: () => import('./commands/list.ts'),
    show: () => import('./commands/show.ts'),
    logs: () => import('./commands/logs.ts'),
    wait: () => import('./commands/wait.ts'),
    explain: () => import('./commands/explain.ts'),
    cancel: () => import('./commands/cancel.ts'),
    retry: () => import('./commands/retry.ts'),
    delete: () => import('./commands/delete.ts'),
    edit: () => import('./commands/edit.ts'),
    hold: () => import('./commands/hold.ts'),
    release: () => import('./commands/release.ts'),
    suspend: () => import('./commands/suspend.ts'),
    continue: () => import('./commands/continue.ts'),
  },
  'Dead letter queue': {
    dlq: {
      summary: 'Inspect, retry and purge dead jobs',
      commands: {
        list: () => import('./commands/dlq-list.ts'),
        show: () => import('./commands/dlq-show.ts'),
        retry: () => import('./commands/dlq-retry.ts'),
        purge: () => import('./commands/dlq-purge.ts'),
      },
    },
  },
  Queues: {
    queue: {
      summary: 'List, pause, limit and delete queues',
      commands: {
        list: () => import('./commands/queue-list.ts'),
        pause: () => import('./commands/queue-pause.ts'),
        resume: () => import('./commands/queue-resume.ts'),
        set: () => import('./commands/queue-set.ts'),
        delete: () => import('./commands/queue-delete.ts'),
      },
    },
  },
  Schedules: {
    schedule: {
      summary: 'Enqueue jobs on a schedule (cron expression or fixed interval)',
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
  },
  Workers: {
    worker: {
      summary: 'Start, stop and list workers',
      commands: {
        start: () => import('./commands/worker-start.ts'),
        stop: () => import('./commands/worker-stop.ts'),
        list: () => import('./commands/worker-list.ts'),
      },
    },
  },
  Monitoring: {
    status: () => import('./commands/status.ts'),
    top: () => import('./commands/top.ts'),
    stats: () => import('./commands/stats.ts'),
    events: () => import('./commands/events.ts'),
    serve: () => import('./commands/serve.ts'),
    dashboard: () => import('./commands/dashboard.ts'),
    metrics: () => import('./commands/metrics.ts'),
  },
  Settings: {
    config: {
      summary: 'List and change the settings',
      commands: {
        list: () => import('./commands/config-list.ts'),
        get: () => import('./commands/config-get.ts'),
        set: () => import('./commands/config-set.ts'),
        unset: () => import('./commands/config-unset.ts'),
      },
    },
  },
  Maintenance: {
    doctor: () => import('./commands/doctor.ts'),
    prune: () => import('./commands/prune.ts'),
    backup: () => import('./commands/backup.ts'),
    restore: () => import('./commands/restore.ts'),
    export: () => import('./commands/export.ts'),
    import: () => import('./commands/import.ts'),
    db: {
      summary: 'Check, repair, upgrade and copy the database',
      commands: {
        check: () => import('./commands/db-check.ts'),
        repair: () => import('./commands/db-repair.ts'),
        migrate: () => import('./commands/db-migrate.ts'),
        renew: () => import('./commands/db-renew.ts'),
        copy: () => import('./commands/db-copy.ts'),
      },
    },
    completion: () => import('./commands/completion.ts'),
    version: () => import('./commands/version.ts'),
  },
};

export const COMMANDS: (typeof SECTIONS)[string] = Object.assign({}, ...Object.values(SECTIONS));

/** Commands that the help does not list. They exist because people type them out of habit. */
export const UNLISTED: Record<string, LoadCommand> = { init: () => import('./commands/init.ts') };

/** Commands that nobody should run by mistake. They are suggested only for a word with a single typing error. */
export const DESTRUCTIVE: ReadonlySet<string> = new Set([
  ...['cancel', 'delete', 'suspend', 'prune', 'restore', 'import', 'dlq purge', 'queue delete'],
  ...['schedule remove', 'worker stop', 'config unset', 'db repair', 'db renew'],
]);

export function isGroup(entry: LoadCommand | CommandGroup): entry is CommandGroup {
  return typeof entry !== 'function';
}
