import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Opens a secret URL through a private page, because all users can see process arguments. Returns a function that removes it. */
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
