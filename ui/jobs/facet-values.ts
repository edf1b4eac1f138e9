import { signal } from '@preact/signals';
import { get } from '../frame/api.ts';
import type { JobPage } from '../types.ts';

/** Values by facet, as suggestions while the user types. They are taken from the newest jobs from time to time. */
export const facetValues = signal<Record<string, string[]>>({});

const LOOKED_AT = 200;
const KEPT_MS = 60_000;
const LONGEST = 60;
let at = Number.NEGATIVE_INFINITY;

export async function loadFacetValues(): Promise<void> {
  if (performance.now() - at < KEPT_MS) return;
  at = performance.now();
  try {
    const { jobs } = await get<JobPage>(`/jobs?limit=${LOOKED_AT}`);
    const all = (of: (job: JobPage['jobs'][number]) => unknown[]): string[] => [
      ...new Set(jobs.flatMap(of).map(String)),
    ];
    facetValues.value = {
      name: all(({ name }) => (name === null ? [] : [name])),
      tag: all(({ tags }) => Object.entries(tags).map((pair) => pair.join('='))),
      error: all(({ last_error }) => (last_error === null ? [] : [last_error.slice(0, LONGEST)])),
      exit: all(({ exit_code }) => (exit_code === null ? [] : [exit_code])),
    };
  } catch {
    // Without an answer there are no suggestions.
  }
}
