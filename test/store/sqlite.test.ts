import { hosts } from '../conformance/hosts.ts';
import { sharedOutput } from '../conformance/shared-output.ts';
import { describeStore } from '../conformance/suite.ts';
import { openTempSqlite } from '../support/sqlite.ts';

const titles = [
  ...Object.keys(hosts).map((title) => `several hosts > ${title}`),
  ...Object.keys(sharedOutput).map((title) => `shared output > ${title}`),
];
const skip = Object.fromEntries(titles.map((title) => [title, 'only one host can use a file']));

describeStore('sqlite', { open: () => openTempSqlite(), skip });
describeStore('sqlite, with parts on demand', { open: () => openTempSqlite(true), skip });
