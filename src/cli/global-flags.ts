import type { Flag } from './command.ts';

/** The flags that all commands have. */
export const GLOBAL_FLAGS: Record<string, Flag> = {
  db: {
    value: 'PATH',
    help: 'database file or PostgreSQL URL (default: $QUEUECTL_DB or ~/.queuectl/queue.db)',
  },
  json: {
    value: 'FIELD,…',
    bareValue: '',
    many: true,
    help: 'print JSON, optionally with only these fields (--json=help lists all fields)',
  },
  quiet: { short: 'q', help: 'suppress notes and warnings; print only ids in lists and after enqueue' },
  'store-timeout': {
    value: 'DURATION',
    help: 'time to wait for a database server (default: $QUEUECTL_STORE_TIMEOUT or 30s)',
  },
  color: { value: 'WHEN', help: 'when to use colors: auto, always or never (default: auto)' },
  'no-pager': { help: 'do not show help in a pager' },
  help: { short: 'h', help: 'show help' },
  version: { short: 'V', help: 'show the version' },
};
