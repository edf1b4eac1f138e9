import { trimStreams } from '../exec/trim.ts';
import type { WorkerState } from './state.ts';

export const TRIM_INTERVAL_MS = 500;

/** Trims the output files of running attempts that are far over the output limit. */
export async function trimRunning({ live, settings }: WorkerState): Promise<void> {
  const places = [...live.values()].map((attempt) => attempt.place);
  await Promise.all(places.map((place) => trimStreams(place, settings['output-limit'])));
}
