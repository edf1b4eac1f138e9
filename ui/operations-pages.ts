/** These components are loaded together, when the first of them is shown. */

export { EditJob } from './components/edit-job.tsx';
export { Help } from './components/help.tsx';
export { JobEvents } from './components/job-events.tsx';
export { LimitsEditor } from './components/limits-editor.tsx';
export { Related } from './components/related.tsx';
export { ScheduleForm } from './components/schedule-form.tsx';
export { ActivityPage } from './pages/activity.tsx';
export { DlqPage } from './pages/dlq.tsx';
export { DoctorPage } from './pages/doctor.tsx';
export { QueuePage } from './pages/queue.tsx';
export { QueuesPage } from './pages/queues.tsx';
export { SchedulePage } from './pages/schedule.tsx';
export { SchedulesPage } from './pages/schedules.tsx';
export { SettingsPage } from './pages/settings.tsx';
export { StatsPage } from './pages/stats.tsx';
export { WorkerPage } from './pages/worker.tsx';
export { WorkersPage } from './pages/workers.tsx';
