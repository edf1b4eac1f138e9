import { defineCommand } from '../command.ts';
import serve from './serve.ts';

/** Is an alias of `serve` that is easier to find. */
export default defineCommand({
  ...serve,
  name: 'dashboard',
  summary: 'Start the dashboard (same as serve)',
  examples: ['queuectl dashboard --open'],
});
