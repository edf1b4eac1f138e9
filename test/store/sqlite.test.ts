import { hosts } from '../conformance/hosts.ts';
import { describeStore } from '../conformance/suite.ts';
import { openTempSqlite } from '../support/sqlite.ts';

const skip = Object.fromEntries(
  Object.keys(hosts).map((title) => [`several hosts > ${title}`, 'only one host can use a file']),
);

describeStore('sqlite', { open: () => openTempSqlite(), skip });
describeStore('sqlite, with parts on demand', { open: () => openTempSqlite(true), skip });
