import type { ComponentType } from 'preact';
import { lazy } from './frame/lazy.tsx';
import { JobPage } from './job/job.tsx';
import { JobsPage } from './jobs/jobs.tsx';
import { OverviewPage } from './overview/overview.tsx';
import type { IconName } from './parts/icon.tsx';
import { PAGE_TITLES } from './words/frame.ts';

export interface Page {
  path: string;
  title: string;
  icon: IconName;
  page: ComponentType;
}

export const PAGES: Page[] = [
  { path: '/', title: PAGE_TITLES.overview, icon: 'overview', page: OverviewPage },
  { path: '/jobs', title: PAGE_TITLES.jobs, icon: 'jobs', page: JobsPage },
  { path: '/dlq', title: PAGE_TITLES.dlq, icon: 'dlq', page: lazy(({ DlqPage }) => DlqPage) },
  { path: '/queues', title: PAGE_TITLES.queues, icon: 'queues', page: lazy(({ QueuesPage }) => QueuesPage) },
  {
    path: '/schedules',
    title: PAGE_TITLES.schedules,
    icon: 'schedules',
    page: lazy(({ SchedulesPage }) => SchedulesPage),
  },
  {
    path: '/workers',
    title: PAGE_TITLES.workers,
    icon: 'workers',
    page: lazy(({ WorkersPage }) => WorkersPage),
  },
  { path: '/stats', title: PAGE_TITLES.metrics, icon: 'stats', page: lazy(({ StatsPage }) => StatsPage) },
  {
    path: '/activity',
    title: PAGE_TITLES.activity,
    icon: 'activity',
    page: lazy(({ ActivityPage }) => ActivityPage),
  },
  {
    path: '/settings',
    title: PAGE_TITLES.settings,
    icon: 'settings',
    page: lazy(({ SettingsPage }) => SettingsPage),
  },
  { path: '/doctor', title: PAGE_TITLES.doctor, icon: 'doctor', page: lazy(({ DoctorPage }) => DoctorPage) },
];

const OF_ONE: Record<string, ComponentType<{ id: string }>> = {
  jobs: JobPage,
  queues: lazy(({ QueuePage }) => QueuePage),
  schedules: lazy(({ SchedulePage }) => SchedulePage),
  workers: lazy(({ WorkerPage }) => WorkerPage),
};

/** Returns the page of a path, and the menu entry that it belongs to. Null if there is no such page. */
export function pageOf(
  path: string,
): { entry: Page; id: string | null; one: ComponentType<{ id: string }> | null } | null {
  const [, first = '', second = '', ...rest] = path.split('/');
  const entry = PAGES.find((page) => page.path === `/${first}`);
  if (entry === undefined || rest.length > 0) return null;
  if (second === '') return { entry, id: null, one: null };
  const one = OF_ONE[first];
  return one === undefined ? null : { entry, id: decodeURIComponent(second), one };
}
