import { defineCommand } from '../command.ts';
import serve from './serve.ts';

/** This alias of `serve` is easier to find. */
export default defineCommand({
  ...serve,
  name: 'dashboard',
  summary: 'Start the dashboard (same as serve)',
  examples: ['queuectl dashboard --open'],
});
