import { spawnSync } from 'node:child_process';

const DEFAULT = 'command -v less >/dev/null || exit 127; less -FIRX';
/** The exit code of a shell that does not find the program. */
const NOT_FOUND = 127;

/** Returns the command of the user's pager, or null if there is to be none. */
export function pagerOf({ QUEUECTL_PAGER, PAGER, TERM }: NodeJS.ProcessEnv): string | null {
  const pager = (QUEUECTL_PAGER ?? PAGER ?? DEFAULT).trim();
  return pager === '' || pager === 'cat' || TERM === 'dumb' ? null : pager;
}

/** Shows a text in a pager until the user leaves it. Returns false if there is no such program. */
export function page(text: string, pager: string, environment: NodeJS.ProcessEnv): boolean {
  // The pager handles Ctrl-C. Without a handler here, it would end queuectl and leave the pager behind.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  try {
    const { status } = spawnSync('/bin/sh', ['-c', pager], {
      input: text,
      stdio: ['pipe', 'inherit', 'inherit'],
      // `PAGER=less` shows colors and leaves short texts on the screen, as the default does.
      env: { LESS: 'FIRX', ...environment },
    });
    return status !== NOT_FOUND;
  } finally {
    process.off('SIGINT', ignore);
  }
}
