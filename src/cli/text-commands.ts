import type { LoadCommand } from './command.ts';

/** The commands whose argument is any text. So no alias consists of one of their names and a second word. */
export const TEXT_COMMANDS: Record<string, LoadCommand> = {
  enqueue: () => import('./commands/enqueue.ts'),
  run: () => import('./commands/run.ts'),
};
