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

const DEFAULT_PAGER = 'command -v less >/dev/null || exit 127; less -FIRX';
/** The exit code of a shell that does not find a program. */
const NOT_FOUND_CODE = 127;

/** Returns the command of the user's pager, or null if no pager is wanted. */
export function pagerCommand({ QUEUECTL_PAGER, PAGER, TERM }: NodeJS.ProcessEnv): string | null {
  const pager = (QUEUECTL_PAGER ?? PAGER ?? DEFAULT_PAGER).trim();
  return pager === '' || pager === 'cat' || TERM === 'dumb' ? null : pager;
}

/** Shows a text in a pager until the user leaves it. Returns false if the shell does not find the pager. */
export function showInPager(text: string, pager: string, environment: NodeJS.ProcessEnv): boolean {
  // The pager handles Ctrl-C. Without a handler here, it would end queuectl and leave the pager behind.
  const ignoreSignal = (): void => {};
  process.on('SIGINT', ignoreSignal);
  try {
    const { status } = spawnSync('/bin/sh', ['-c', pager], {
      input: text,
      stdio: ['pipe', 'inherit', 'inherit'],
      // `PAGER=less` shows colors and leaves short texts on the screen, as the default does.
      env: { LESS: 'FIRX', ...environment },
    });
    return status !== NOT_FOUND_CODE;
  } finally {
    process.off('SIGINT', ignoreSignal);
  }
}
