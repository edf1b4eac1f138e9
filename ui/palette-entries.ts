import { get, part } from './api.ts';
import type { IconName } from './components/icon.tsx';
import { EMPTY } from './draft.ts';
import { visible } from './format.ts';
import { paused } from './live.ts';
import { logOut } from './login.ts';
import { draft, helpOpen } from './overlays.ts';
import { PAGES } from './pages.tsx';
import { setPaused } from './queue-acts.ts';
import { go } from './router.ts';
import { queues, readOnly, toggleUtc } from './store.ts';
import { nextTheme } from './theme.ts';
import type { Job, JobPage, Schedule, State, Worker } from './types.ts';
import { hrefOf, views } from './views.ts';

export interface Entry {
  title: string;
  kind: string;
  icon: IconName;
  run(): void;
}

const MOST = 12;
const MOST_JOBS = 6;

/** What can be jumped to or done, without asking the server. */
export function entriesFor(text: string): Entry[] {
  const words = text.trim().toLowerCase().split(/\s+/);
  return everything()
    .filter(({ title, kind }) => words.every((word) => `${title} ${kind}`.toLowerCase().includes(word)))
    .slice(0, MOST);
}

function everything(): Entry[] {
  const pages = PAGES.map(({ path, title, icon }) => entry(title, 'page', icon, () => go(path)));
  const all = queues.value ?? [];
  const toQueue = all.map(({ name }) =>
    entry(visible(name), 'queue', 'queues', () => go(`/queues/${part(name)}`)),
  );
  const toView = views.value.map((view) =>
    entry(visible(view.name), 'view', 'overview', () => go(hrefOf(view))),
  );
  const acts = [
    entry('Theme: next', 'do', 'theme', nextTheme),
    entry('Live updates: pause or go on', 'do', 'pause', () => {
      paused.value = !paused.value;
    }),
    entry('Times: UTC or local', 'do', 'pending', toggleUtc),
    entry('Keyboard shortcuts', 'do', 'keyboard', () => {
      helpOpen.value = true;
    }),
    entry('Log out', 'do', 'logout', () => void logOut()),
  ];
  if (readOnly.value) return [...pages, ...toView, ...toQueue, ...acts];
  const newJob = entry('New job', 'do', 'plus', () => {
    draft.value = EMPTY;
  });
  const pauses = all.map((queue) =>
    entry(
      `${queue.paused ? 'Resume' : 'Pause'} queue ${visible(queue.name)}`,
      'do',
      queue.paused ? 'play' : 'pause',
      () => void setPaused(queue.name, !queue.paused),
    ),
  );
  return [...pages, newJob, ...toView, ...toQueue, ...pauses, ...acts];
}

/** The job with this id, those that a search finds, and schedules and workers of that name. */
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
        entry(visible(name), 'schedule', 'schedules', () => go(`/schedules?name=${part(name)}`)),
      ),
    ...workers
      .filter(({ id, hostname }) => `${id} ${hostname}`.includes(text))
      .map(({ id, hostname }) =>
        entry(`${id}  ${visible(hostname)}`, 'worker', 'workers', () => go(`/workers/${part(id)}`)),
      ),
    ...jobs.map((job) =>
      entry(`${job.id}  ${visible(job.name ?? job.command).slice(0, 80)}`, 'job', job.state as State, () =>
        go(`/jobs/${part(job.id)}`),
      ),
    ),
  ];
}

function entry(title: string, kind: string, icon: IconName, run: () => void): Entry {
  return { title, kind, icon, run };
}
