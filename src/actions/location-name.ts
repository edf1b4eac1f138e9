import { isServerUrl } from '../store/location.ts';

/** Returns the location for messages. A URL is shown in its usual form, without a password. */
export async function locationName(location: string, environment: NodeJS.ProcessEnv): Promise<string> {
  if (!isServerUrl(location)) return location;
  return (await import('../store/postgres/location.ts')).readLocation(location, environment).name;
}
