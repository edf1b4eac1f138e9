import type { LoadCommand } from './command.ts';
import enqueue from './commands/enqueue.ts';

/** The commands whose argument is any text. So no alias consists of one of their names and a second word. */
export const TEXT_COMMANDS: Record<string, LoadCommand> = {
  // Scripts start this one most often. An `import()` would take it a tenth of a millisecond.
  enqueue: async () => ({ default: enqueue }),
  run: () => import('./commands/run.ts'),
};
