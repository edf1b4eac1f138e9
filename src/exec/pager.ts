import { spawnSync } from 'node:child_process';

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
