import { EMPTY } from '../jobs/draft.ts';
import { hrefOf, views } from '../jobs/views.ts';
import { PAGES } from '../pages.tsx';
import { visible } from '../parts/format.ts';
import type { IconName } from '../parts/icon.tsx';
import { setPaused } from '../queues/queue-acts.ts';
import type { Job, JobPage, Schedule, State, Worker } from '../types.ts';
import { FRAME, PALETTE } from '../words/frame.ts';
import { QUEUE_ACTS } from '../words/shared.ts';
import { get, part } from './api.ts';
import { paused } from './live.ts';
import { logOut } from './login.ts';
import { draft, helpOpen } from './overlays.ts';
import { go } from './router.ts';
import { queues, readOnly, toggleUtc } from './store.ts';
import { nextTheme } from './theme.ts';

export interface Entry {
  title: string;
  kind: string;
  icon: IconName;
  run(): void;
}

const KIND = PALETTE.kinds;
const MOST = 12;
const MOST_JOBS = 6;

/** Returns the pages and actions that match, without a request. */
export function entriesFor(text: string): Entry[] {
  const words = text.trim().toLowerCase().split(/\s+/);
  return everything()
    .filter(({ title, kind }) => words.every((word) => `${title} ${kind}`.toLowerCase().includes(word)))
    .slice(0, MOST);
}

function everything(): Entry[] {
  const pages = PAGES.map(({ path, title, icon }) => entry(title, KIND.page, icon, () => go(path)));
  const all = queues.value ?? [];
  const toQueue = all.map(({ name }) =>
    entry(visible(name), KIND.queue, 'queues', () => go(`/queues/${part(name)}`)),
  );
  const toView = views.value.map((view) =>
    entry(visible(view.name), KIND.view, 'overview', () => go(hrefOf(view))),
  );
  const acts = [
    entry(PALETTE.switchTheme, KIND.action, 'theme', nextTheme),
    entry(paused.value ? FRAME.resumeLive : FRAME.pauseLive, KIND.action, 'pause', () => {
      paused.value = !paused.value;
    }),
    entry(PALETTE.switchUtc, KIND.action, 'pending', toggleUtc),
    entry(FRAME.shortcuts, KIND.action, 'keyboard', () => {
      helpOpen.value = true;
    }),
    entry(FRAME.logOut, KIND.action, 'logout', () => void logOut()),
  ];
  if (readOnly.value) return [...pages, ...toView, ...toQueue, ...acts];
  const newJob = entry(FRAME.newJob, KIND.action, 'plus', () => {
    draft.value = EMPTY;
  });
  const pauses = all.map((queue) =>
    entry(
      (queue.paused ? QUEUE_ACTS.resume : QUEUE_ACTS.pause)(visible(queue.name)),
      KIND.action,
      queue.paused ? 'play' : 'pause',
      () => void setPaused(queue.name, !queue.paused),
    ),
  );
  return [...pages, newJob, ...toView, ...toQueue, ...pauses, ...acts];
}

/** Returns the job with this id, jobs that match a search, and matching schedules and workers. */
export async function jobsFor(text: string): Promise<Entry[]> {
  const none = { jobs: [] as Job[] };
  const [exact, found, schedules, workers] = await Promise.all([
    get<Job>(`/jobs/${part(text)}`).catch(() => null),
    get<JobPage>(`/jobs?limit=${MOST_JOBS}&search=${part(text)}`).catch(() => none),
    get<Schedule[]>('/schedules').catch(() => []),
    get<Worker[]>('/workers').catch(() => []),
  ]);
  const jobs = [...(exact === null ? [] : [exact]), ...found.jobs.filter((job) => job.id !== exact?.id)];
  return [
    ...schedules
      .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
      .map(({ name }) =>
        entry(visible(name), KIND.schedule, 'schedules', () => go(`/schedules?name=${part(name)}`)),
      ),
    ...workers
      .filter(({ id, hostname }) => `${id} ${hostname}`.includes(text))
      .map(({ id, hostname }) =>
        entry(`${id}  ${visible(hostname)}`, KIND.worker, 'workers', () => go(`/workers/${part(id)}`)),
      ),
    ...jobs.map((job) =>
      entry(`${job.id}  ${visible(job.name ?? job.command).slice(0, 80)}`, KIND.job, job.state as State, () =>
        go(`/jobs/${part(job.id)}`),
      ),
    ),
  ];
}

function entry(title: string, kind: string, icon: IconName, run: () => void): Entry {
  return { title, kind, icon, run };
}
