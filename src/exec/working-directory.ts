import { existsSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';

/** The character that the runtime puts in the place of bytes that are not valid UTF-8. */
const REPLACEMENT = '\uFFFD';

/** Returns the directory that a job is to run in. Throws if its name is not valid UTF-8, because then it would lead elsewhere. */
export function checkDirectoryName(directory: string): string {
  if (!directory.includes(REPLACEMENT) || existsSync(directory)) return directory;
  throw new QueueError(
    'invalid-job',
    `the name of the working directory is not valid UTF-8: ${directory}`,
    'rename the directory, or use --cwd DIR',
  );
}
