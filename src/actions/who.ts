/** Who pauses something, as its list will say. */
export function userOf(environment: NodeJS.ProcessEnv): string {
  return environment.USER || environment.LOGNAME || `uid ${process.getuid?.() ?? '?'}`;
}
