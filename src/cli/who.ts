/** Who does this, for those who see it later. */
export function who(environment: NodeJS.ProcessEnv): string {
  return environment.USER || environment.LOGNAME || `uid ${process.getuid?.() ?? '?'}`;
}
