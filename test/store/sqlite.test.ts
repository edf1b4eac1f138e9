import { describeStore } from '../conformance/suite.ts';
import { openTempSqlite } from '../support/sqlite.ts';

describeStore('sqlite', { open: () => openTempSqlite() });
describeStore('sqlite, with parts on demand', { open: () => openTempSqlite(true) });
