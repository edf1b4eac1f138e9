import { defineCommand } from '../command.ts';
import serve from './serve.ts';

/** The same command as `serve`, under a name that is easier to find. */
export default defineCommand({
  ...serve,
  name: 'dashboard',
  summary: 'Start the dashboard (same as serve)',
  examples: ['queuectl dashboard --open'],
});
