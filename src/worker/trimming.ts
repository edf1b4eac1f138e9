import { trimStreams } from '../exec/trim.ts';
import type { WorkerState } from './state.ts';

const INTERVAL_MS = 500;

/** Returns the time until the next trimming, which is infinite while no attempt is running. */
export function trimDelayMs({ live }: Pick<WorkerState, 'live'>): number {
  return live.size === 0 ? Number.POSITIVE_INFINITY : INTERVAL_MS;
}

/** Trims the output files of running attempts that are far over the output limit. */
export async function trimRunning({ live, settings }: WorkerState): Promise<void> {
  const places = [...live.values()].map((attempt) => attempt.place);
  await Promise.all(places.map((place) => trimStreams(place, settings['output-limit'])));
}
