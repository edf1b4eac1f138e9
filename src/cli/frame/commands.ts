import { type Command, GUARD_PROCESS, type LoadCommand, WORKER_PROCESS } from './command.ts';
import { TEXT_COMMANDS } from './find-command.ts';

export interface CommandGroup {
  summary: string;
  commands: Record<string, LoadCommand>;
}

/** Returns the loaders of commands in a file that has several. Spaces separate the commands. */
function from(load: () => Promise<{ default: Record<string, Command> }>, verbs: string) {
  const loaders: Record<string, LoadCommand> = {};
  for (const verb of verbs.split(' '))
    loaders[verb] = async () => ({ default: (await load()).default[verb]! });
  return loaders;
}

const jobs = () => import('../commands/jobs.ts');
const db = () => import('../commands/db.ts');
const status = () => import('../commands/status.ts');

/** The commands by section of the help. Each file has its own import, so that running a command loads no other file. */
export const SECTIONS: Record<string, Record<string, LoadCommand | CommandGroup>> = {
  Jobs: {
    ...TEXT_COMMANDS,
    ...from(jobs, 'list show'),
    logs: () => import('../commands/logs.ts'),
    ...from(jobs, 'wait explain'),
    ...from(
      () => import('../commands/job-actions.ts'),
      'cancel retry delete edit hold release suspend continue',
    ),
  },
  'Dead letter queue': {
    dlq: {
      summary: 'Inspect, retry and purge dead jobs',
      commands: from(() => import('../commands/dlq.ts'), 'list show retry purge'),
    },
  },
  Queues: {
    queue: {
      summary: 'List, pause, limit and delete queues',
      commands: from(() => import('../commands/queue.ts'), 'list pause resume set delete'),
    },
  },
  Schedules: {
    schedule: {
      summary: 'Enqueue jobs on a schedule (cron expression or fixed interval)',
      commands: from(() => import('../commands/schedule.ts'), 'add list show edit remove pause resume run'),
    },
  },
  Workers: {
    worker: {
      summary: 'Start, stop and list workers',
      commands: {
        start: () => import('../commands/worker-start.ts'),
        ...from(() => import('../commands/worker.ts'), 'stop list'),
      },
    },
  },
  Monitoring: {
    ...from(status, 'status'),
    top: () => import('../commands/top.ts'),
    ...from(status, 'stats'),
    events: () => import('../commands/events.ts'),
    ...from(() => import('../commands/serve.ts'), 'serve dashboard'),
    ...from(status, 'metrics'),
  },
  Settings: {
    config: {
      summary: 'List and change the settings',
      commands: from(() => import('../commands/config.ts'), 'list get set unset'),
    },
  },
  Maintenance: {
    doctor: () => import('../commands/doctor.ts'),
    prune: () => import('../commands/prune.ts'),
    ...from(() => import('../commands/transfer.ts'), 'backup restore export import'),
    db: {
      summary: 'Check, repair, upgrade and copy the database',
      commands: {
        ...from(db, 'check repair migrate renew'),
        copy: () => import('../commands/db-copy.ts'),
      },
    },
    completion: () => import('../commands/completion.ts'),
    version: () => import('../commands/version.ts'),
  },
};

export const COMMANDS: (typeof SECTIONS)[string] = Object.assign({}, ...Object.values(SECTIONS));

/** Commands that the help does not list: one that people type out of habit, and those with which a supervisor starts processes. */
export const UNLISTED: Record<string, LoadCommand> = {
  ...from(db, 'init'),
  ...from(() => import('../commands/worker-process.ts'), `${WORKER_PROCESS} ${GUARD_PROCESS}`),
};

/** Commands that nobody should run by mistake. They are suggested only for a word with a single typing error. */
export const DESTRUCTIVE: ReadonlySet<string> = new Set([
  ...['cancel', 'delete', 'suspend', 'prune', 'restore', 'import', 'dlq purge', 'queue delete'],
  ...['schedule remove', 'worker stop', 'config unset', 'db repair', 'db renew'],
]);

export function isGroup(entry: LoadCommand | CommandGroup): entry is CommandGroup {
  return typeof entry !== 'function';
}
