import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Lets a person change a text in an editor. Returns the new text, or null if the editor failed. */
export function editText(text: string, editor: string): string | null {
  const directory = mkdtempSync(join(tmpdir(), 'queuectl-edit-'));
  const file = join(directory, 'job.json');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    // A shell runs the editor, because $EDITOR may have options, as in "code --wait".
    const { status } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    return status === 0 ? readFileSync(file, 'utf8') : null;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
