/** Texts of the list of jobs, and of everything that can be done to jobs. */
export const JOBS = {
  states: 'States',
  waitingFor: 'Waiting for',
  pages: 'Pages of jobs',
  loading: 'Loading…',
  counting: 'Still counting these jobs. Try again in a moment.',
  sortedPage: ', sorted within this page',
  newest: 'Newest',
  older: 'Older',
  noneMatch: 'No jobs match.',
  noneSoFar: 'No matching jobs so far. Continue with older jobs.',
  noneYet: 'No jobs yet. Enqueue the first one:',
  sortBy: 'Sort by',
  selectPage: 'Select this page',
  selectJob: (id: string) => `Select job ${id}`,

  search: 'Search and filter',
  searchHint:
    'Search, or filter by state: waiting: queue: name: tag: error: exit: older: attempts:>3 dur:>5m',
  clearFilter: 'Clear the filter',
  suggestions: 'Suggestions',
};

export const COLUMN_TITLES = {
  state: 'State',
  job: 'Job',
  name: 'Name',
  command: 'Command',
  error: 'Error',
  queue: 'Queue',
  tags: 'Tags',
  priority: 'Priority',
  attempts: 'Attempts',
  exit: 'Exit code',
  worker: 'Worker',
  ran: 'Run time',
  created: 'Enqueued',
  started: 'Started',
  next: 'Next run',
  waiting: 'Waiting for',
  changed: 'Updated',
};

/** The menus above the list. */
export const MENUS = {
  columns: 'Columns',
  copy: 'Copy',
  copyCli: 'CLI command',
  copyJson: 'JSON',
  copyCsv: 'CSV',
  copyIds: 'Job ids',
  views: 'Views',
  noViews: 'Save a search with its columns and sort order.',
  viewName: 'View name',
  viewSaved: (name: string) => `View ${name} saved in this browser`,
  deleteView: (name: string) => `Delete view ${name}`,
  tooManyViews: (most: number) => `You can save up to ${most} views. Delete one first.`,
  copyLink: 'Copy link',
};

/** The bar that appears when jobs are selected. */
export const BULK = {
  toolbar: 'Selected jobs',
  counting: 'Counting…',
  selected: (count: string) => `${count} selected`,
  selectAll: (count: string) => `Select all ${count} matching jobs`,
  newQueueHint: 'name of the new queue',
  apply: 'Apply',
  clear: 'Clear selection',
};

export type ActionName = 'retry' | 'cancel' | 'hold' | 'release' | 'delete' | 'edit';

export const ACTIONS: Record<ActionName, { label: string; past: string; bulk: string }> = {
  retry: {
    label: 'Retry',
    past: 'retried',
    bulk: 'Dead, cancelled and failed jobs return to their queues and can use all their attempts again. At-most-once jobs that have already started are skipped.',
  },
  cancel: {
    label: 'Cancel',
    past: 'cancelled',
    bulk: 'Waiting jobs will not run. Running jobs will be stopped.',
  },
  hold: { label: 'Hold', past: 'held', bulk: 'Waiting jobs do not run until they are released.' },
  release: { label: 'Release', past: 'released', bulk: 'Held jobs can start.' },
  delete: {
    label: 'Delete',
    past: 'deleted',
    bulk: 'Jobs are deleted permanently with their output. Running jobs are skipped.',
  },
  edit: { label: 'Edit', past: 'changed', bulk: 'Waiting jobs are changed. Other jobs are skipped.' },
};

/** Questions before an action, and what is reported after it. */
export const ACTING = {
  done: (id: string, past: string) => `Job ${id} ${past}`,
  doneWith: (id: string, past: string, also: string) => `Job ${id} ${past}, ${also} cancelled`,
  /** Follows the text of a question. */
  alsoCancels: (jobs: string) => ` This also cancels ${jobs}.`,
  dependent: 'job that depends on it',
  dependents: 'jobs that depend on it',
  dependentOfMany: 'job that depends on them',
  dependentsOfMany: 'jobs that depend on them',
  countOrMore: (count: string, jobs: string) => `${count} or more ${jobs}`,
  /** Follow the text of a question if the number is not known. */
  mayCancel: ' Jobs that depend on it may be cancelled, too.',
  mayCancelMany: ' Jobs that depend on them may be cancelled, too.',
  dueNow: (id: string) => `Job ${id} is due now`,
  orMore: (count: string) => `${count} or more jobs`,
  cancelTitle: (id: string) => `Cancel job ${id}?`,
  cancelDetail: 'The running process will be stopped.',
  cancelButton: 'Cancel the job',
  deleteTitle: (id: string) => `Delete job ${id}?`,
  deleteDetail: 'The job and its output will be deleted permanently.',
  againTitle: (id: string) => `Start job ${id} again?`,
  againDetail: 'This at-most-once job has already been started. A retry runs it again.',
  againButton: 'Start again',
};

/** The progress of a bulk action. */
export const OPERATIONS = {
  title: 'Bulk actions',
  stop: 'Stop',
  progress: (action: string) => `${action}: progress`,
  of: (done: string, total: string) => `${done} of ${total}`,
  states: { done: 'Done', stopped: 'Stopped', failed: 'Failed', lost: 'Interrupted' },
  changed: (jobs: string, past: string) => `${jobs} ${past}`,
  unchanged: (count: string) => `, ${count} unchanged`,
  alsoCancelled: (jobs: string) => `, ${jobs} cancelled`,
  dependent: 'dependent job',
  skipped: (count: string) => ` (${count} skipped: retry at-most-once jobs one by one)`,
  lost: '. The server was restarted and did not finish the action.',
};
