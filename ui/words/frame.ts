/** Texts around every page: navigation, connection, login and command palette. */
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
  run: 'Run this command in a terminal. Then open the address that it prints, or paste it here.',
  field: 'Address or token',
  button: 'Log in',
  background: 'If the server runs in the background, it prints the path of a file that contains the token.',
  session:
    'The token is not stored. All tabs share one session. It ends when you log out, after 12 hours without use, or when the server stops.',
  unreadable: 'This is neither a token nor an address that contains one.',
  reasons: {
    first: null,
    restarted: 'The server was restarted. Enter its address.',
    ended: 'Your session has ended, after 12 hours without use or because the token was replaced.',
    'logged-out': 'You have logged out.',
    rejected: 'The server rejected this token.',
    throttled: 'Too many wrong tokens. Wait a few seconds.',
    'no-answer': 'The server is not responding. Check that it is running.',
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
