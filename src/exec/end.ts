/** Ends this process at once. At a usual end the runtimes close every store, which is wrong if its files were removed. */
export function endAtOnce(code: number): void {
  try {
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {});
  } catch {
    // There is no shell, or the runtime cannot do it.
  }
  process.kill(process.pid, 'SIGKILL');
}
