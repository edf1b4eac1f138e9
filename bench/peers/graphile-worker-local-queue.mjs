import { open as openDefault } from './graphile-worker.mjs';

/** Graphile Worker that fetches 64 jobs at once. */
export function open(location, options) {
  return openDefault(location, { ...options, preset: { localQueue: { size: 64 } } });
}
