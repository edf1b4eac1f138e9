import type { App } from '../actions/app.ts';
import { endProcesses, targetOf } from '../exec/kill.ts';
import { processes } from '../exec/processes.ts';
import { unfinishedPlaces } from '../exec/running-commands.ts';
import { attemptOf, type Place } from '../state/place.ts';

/**
 * Ends the commands on this host whose attempts are over in the store, because another host has taken over their jobs. The guard has
 * ended them in time, unless this host was frozen together with it.
 */
export async function endStrays(app: App, graceMs: number): Promise<void> {
  const runsHere = ({ cookie }: Place): boolean => processes.frameOf(cookie) !== null;
  const isOfStore = ({ name }: Place): boolean => attemptOf(name)?.epoch === app.store.epoch;
  const places = unfinishedPlaces(app.stateDirectory, new Set()).filter(
    (place) => isOfStore(place) && runsHere(place),
  );
  if (places.length === 0) return;
  const running = new Set((await app.store.runningJobs()).map((job) => job.claim.attempt));
  // An attempt is settled only after its frame has ended. So a frame that still runs is not of one that was settled meanwhile.
  const strays = places.filter((place) => !running.has(attemptOf(place.name)!.attempt) && runsHere(place));
  await Promise.all(strays.map((place) => endProcesses(targetOf(place), graceMs)));
}
