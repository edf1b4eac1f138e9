/** Texts of the list of workers and the page of one worker. */
export const WORKERS = {
  none: 'No workers are running. Start one:',
  summary: (workers: string, busy: string, slots: string) => `${workers}, ${busy} of ${slots} busy`,
  allHosts: 'All hosts',
  runningJobs: 'Running jobs',
  stop: 'Stop',
  statuses: { idle: 'Idle', busy: 'Busy', draining: 'Draining' },
  otherVersion: 'Different version',
};

export const WORKER = {
  label: (id: string) => `Worker ${id}`,
  gone: (id: string) => `Worker ${id} is no longer running. Another worker takes over its jobs.`,
  all: 'All workers',
  forceStop: 'Force stop',
  unknownVersion: 'Unknown',
  differs: (version: string) => `Differs from this server (${version})`,
};

export const STOP_WORKER = {
  drainTitle: 'Stop this worker?',
  drainIdle: 'The worker takes no more jobs and exits. It is not replaced.',
  drainBusy: (jobs: string) =>
    `The worker takes no more jobs, waits for ${jobs} to finish, and exits. It is not replaced.`,
  drainButton: 'Stop worker',
  forceTitle: 'Force this worker to stop?',
  forceIdle: 'The worker exits immediately. It is not replaced.',
  forceBusy: (jobs: string) =>
    `${jobs} will be stopped and returned to the queue. This does not count as an attempt.`,
  forceButton: 'Force stop',
  runningJob: 'running job',
  stopping: (id: string) => `Worker ${id} is stopping`,
};
