import { rmSync } from 'node:fs';
import { abandonedDrafts, abandonedParts, type Leftover, sweepDrafts } from '../files/write.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';

/* These match the names of unfinished files. Such a name ends with the pid of the process that writes the file. */
const BALLAST_DRAFT = /^ballast\.(\d+)$/;
/** Matches a page with the token of a server, through which `serve --open` opens a browser. */
const BROWSER_PAGE = /^open-(\d+)\.html$/;
const OUTPUT_DRAFT = /^[0-9a-f]{12}-\d+\.(?:out|err)\.(\d+)$/;

/** Returns the files that killed processes left in a state directory. */
export function leftoversIn(stateDirectory: StateDirectory): Leftover[] {
  return [
    ...abandonedDrafts(stateDirectory.path),
    ...abandonedParts(stateDirectory.path, BALLAST_DRAFT),
    ...abandonedParts(stateDirectory.path, BROWSER_PAGE),
    ...abandonedDrafts(stateDirectory.attempts),
    ...abandonedParts(stateDirectory.attempts, OUTPUT_DRAFT),
  ];
}

/** Removes the files that killed processes left. Drafts of outputs are removed later, when their attempt is settled. */
export async function clearLeftovers({ stateDirectory }: App, location: string): Promise<void> {
  (await careOf(location)).clearLeftovers(location);
  sweepDrafts(stateDirectory.path);
  for (const { path } of abandonedParts(stateDirectory.path, BALLAST_DRAFT)) rmSync(path, { force: true });
  clearBrowserPages(stateDirectory);
}

/** Removes the pages of servers that were killed. */
export function clearBrowserPages({ path }: StateDirectory): void {
  for (const page of abandonedParts(path, BROWSER_PAGE)) rmSync(page.path, { force: true });
}
