import { describeStore } from '../conformance/suite.ts';
import { openTempPostgres } from '../support/postgres.ts';

describeStore('postgres', { open: openTempPostgres });
