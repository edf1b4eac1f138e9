import type { ComponentType } from 'preact';
import type { IconName } from './components/icon.tsx';
import { later } from './components/later.tsx';
import { ActivityPage } from './pages/activity.tsx';
import { DlqPage } from './pages/dlq.tsx';
import { JobPage } from './pages/job.tsx';
import { JobsPage } from './pages/jobs.tsx';
import { OverviewPage } from './pages/overview.tsx';

export interface Page {
  path: string;
  title: string;
  icon: IconName;
  page: ComponentType;
}

export const PAGES: Page[] = [
  { path: '/', title: 'Overview', icon: 'overview', page: OverviewPage },
  { path: '/jobs', title: 'Jobs', icon: 'jobs', page: JobsPage },
  { path: '/dlq', title: 'Dead letters', icon: 'dlq', page: DlqPage },
  { path: '/queues', title: 'Queues', icon: 'queues', page: later(({ QueuesPage }) => QueuesPage) },
  {
    path: '/schedules',
    title: 'Schedules',
    icon: 'schedules',
    page: later(({ SchedulesPage }) => SchedulesPage),
  },
  { path: '/workers', title: 'Workers', icon: 'workers', page: later(({ WorkersPage }) => WorkersPage) },
  { path: '/stats', title: 'Metrics', icon: 'stats', page: later(({ StatsPage }) => StatsPage) },
  { path: '/activity', title: 'Activity', icon: 'activity', page: ActivityPage },
  { path: '/settings', title: 'Settings', icon: 'settings', page: later(({ SettingsPage }) => SettingsPage) },
  { path: '/doctor', title: 'Doctor', icon: 'doctor', page: later(({ DoctorPage }) => DoctorPage) },
];

const OF_ONE: Record<string, ComponentType<{ id: string }>> = {
  jobs: JobPage,
  queues: later(({ QueuePage }) => QueuePage),
  schedules: later(({ SchedulePage }) => SchedulePage),
  workers: later(({ WorkerPage }) => WorkerPage),
};

/** The page of a path, and which entry of the menu it belongs to. */
export function pageOf(
  path: string,
): { entry: Page; id: string | null; one: ComponentType<{ id: string }> | null } | null {
  const [, first = '', second] = path.split('/');
  const entry = PAGES.find((page) => page.path === `/${first}`);
  if (entry === undefined) return null;
  const one = second ? (OF_ONE[first] ?? null) : null;
  return { entry, id: second ? decodeURIComponent(second) : null, one };
}
