import { existsSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';

/** The character with which the runtime replaces bytes that are not valid UTF-8. */
const REPLACEMENT = '\uFFFD';

/** Returns the directory unchanged. Throws if the runtime could not decode its name, because then the job would run elsewhere. */
export function checkDirectoryName(directory: string): string {
  if (!directory.includes(REPLACEMENT) || existsSync(directory)) return directory;
  throw new QueueError(
    'invalid-job',
    `the name of the working directory is not valid UTF-8: ${directory}`,
    'rename the directory, or use --cwd DIR',
  );
}
