import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Opens a secret URL. All users can see the arguments of a process, so the browser gets a private page that redirects to
 * the URL. Returns a function that removes the page.
 */
export function openBrowser(directory: string, url: string, onFailure: () => void): () => void {
  const page = join(directory, `open-${process.pid}.html`);
  writeFileSync(page, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`, { mode: 0o600 });
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open';
  spawn(program, [page], { stdio: 'ignore', detached: true })
    .on('error', onFailure)
    .on('exit', (code) => code !== null && code !== 0 && onFailure())
    .unref();
  return () => rmSync(page, { force: true });
}
