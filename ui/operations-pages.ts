/** These components are loaded together, when the first of them is shown. */

export { ActivityPage } from './events/activity.tsx';
export { StatsPage } from './figures/stats.tsx';
export { Help } from './frame/help.tsx';
export { JobEvents } from './job/job-events.tsx';
export { Related } from './job/related.tsx';
export { DlqPage } from './jobs/dlq.tsx';
export { EditJob } from './jobs/edit-job.tsx';
export { LimitsEditor } from './queues/limits-editor.tsx';
export { QueuePage } from './queues/queue.tsx';
export { QueuesPage } from './queues/queues.tsx';
export { SchedulePage } from './schedules/schedule.tsx';
export { ScheduleForm } from './schedules/schedule-form.tsx';
export { SchedulesPage } from './schedules/schedules.tsx';
export { DoctorPage } from './settings/doctor.tsx';
export { SettingsPage } from './settings/settings.tsx';
export { WorkerPage } from './workers/worker.tsx';
export { WorkersPage } from './workers/workers.tsx';
