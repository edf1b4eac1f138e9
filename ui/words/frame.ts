/** Texts around every page: navigation, connection, login, command palette and keyboard shortcuts. */
export const PAGE_TITLES = {
  overview: 'Overview',
  jobs: 'Jobs',
  dlq: 'Dead letter queue',
  queues: 'Queues',
  schedules: 'Schedules',
  workers: 'Workers',
  metrics: 'Metrics',
  activity: 'Activity',
  settings: 'Settings',
  doctor: 'Doctor',
};

export const FRAME = {
  skip: 'Skip to content',
  pages: 'Pages',
  notFound: 'Not found',
  pageNotFound: (path: string) => `There is no page at ${path}.`,
  toOverview: 'Go to the overview',
  menu: 'Menu',
  readOnly: 'Read-only',
  jumpTo: 'Jump to…',
  theme: (name: string) => `Theme: ${name}`,
  shortcuts: 'Keyboard shortcuts',
  newJob: 'New job',
  logOut: 'Log out',
  version: (version: string) => `Version ${version}`,
  pauseLive: 'Pause live updates',
  resumeLive: 'Resume live updates',
};

/** The state of the connection in the top bar. */
export const CONNECTION = {
  connecting: 'Connecting',
  live: 'Live',
  polling: 'Polling',
  away: 'Offline',
  'store-away': 'Database unavailable',
  paused: 'Paused',
};

/** The notice above a page that is not live. */
export const BANNER = {
  away: 'Connection lost. Reconnecting…',
  polling: 'Too many live connections. This page refreshes every few seconds instead.',
  'store-away': 'The server cannot read its database. Retrying… Run queuectl status for details.',
};

export const LOGIN = {
  title: 'Log in to queuectl',
  run: 'To log in, run the command below in a terminal. Then open the address that it prints, or paste it into the field.',
  field: 'Address or token',
  button: 'Log in',
  background:
    'If the server runs in the background, the token is in a file. The server prints the path of this file.',
  session:
    'The token is not stored. All tabs of this browser share one session. It ends when you log out, after 12 hours without use, or when the server stops.',
  unreadable: 'This is neither a token nor an address that contains one.',
  reasons: {
    first: null,
    restarted: 'The server was restarted, which ended your session.',
    ended: 'Your session has ended, because it was not used for 12 hours or the token was replaced.',
    'logged-out': 'You have logged out.',
    rejected: 'The server rejected this token.',
    throttled: 'Too many wrong tokens. Wait a few seconds, then try again.',
    'no-answer': 'The server is not responding. Check that it is running, then try again.',
  },
};

export const PALETTE = {
  title: 'Jump to',
  field: 'Search pages, jobs, queues, schedules and actions',
  results: 'Results',
  none: 'No results',
  kinds: {
    action: 'Action',
    job: 'Job',
    page: 'Page',
    queue: 'Queue',
    schedule: 'Schedule',
    view: 'View',
    worker: 'Worker',
  },
  switchTheme: 'Switch theme',
  switchUtc: 'Switch between UTC and local time',
};

export const SHORTCUTS: [keys: string, action: string][] = [
  ['Ctrl K', 'Open the command palette'],
  ['g o', 'Go to the overview'],
  ['g j', 'Go to jobs'],
  ['g d', 'Go to the dead letter queue'],
  ['g q', 'Go to queues'],
  ['g s', 'Go to schedules'],
  ['g w', 'Go to workers'],
  ['g m', 'Go to metrics'],
  ['g a', 'Go to activity'],
  ['/', 'Search'],
  ['j k', 'Next or previous row'],
  ['↓ ↑', 'Next or previous row, if a row has the focus'],
  ['Enter', 'Open the row'],
  ['x Space', 'Select the row'],
  ['X', 'Select a range of rows'],
  ['a', 'Select all matching jobs'],
  ['r', 'Retry'],
  ['c', 'Cancel'],
  ['#', 'Delete'],
  ['e', 'Edit a waiting job'],
  ['d', 'Duplicate the job'],
  ['p', 'Pause or resume the queue'],
  ['l', 'Show the output'],
  ['f', 'Follow the output'],
  ['[ ]', 'Previous or next attempt'],
  ['n N', 'Next or previous match in the output'],
  ['n', 'New job'],
  ['t', 'Switch theme'],
  ['u', 'Switch between UTC and local time'],
  ['.', 'Pause or resume live updates'],
  ['?', 'Show this help'],
  ['Esc', 'Close or go back'],
];
