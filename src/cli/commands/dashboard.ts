import type { Command } from '../command.ts';
import serve from './serve.ts';

/** The name under which people look for it. */
export default {
  ...serve,
  name: 'dashboard',
  summary: 'The same as serve',
  examples: ['queuectl dashboard --open'],
} satisfies Command as Command;
