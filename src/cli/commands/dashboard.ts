import type { Command } from '../command.ts';
import serve from './serve.ts';

/** An alias that is easier to find. */
export default {
  ...serve,
  name: 'dashboard',
  summary: 'Start the dashboard (same as serve)',
  examples: ['queuectl dashboard --open'],
} satisfies Command as Command;
