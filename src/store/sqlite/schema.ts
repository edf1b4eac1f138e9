import { COUNTS, EXIT_CODES, INTERVALS_MS, NUMBERS, TIMES_MS } from '../ranges.ts';
import { inRange, type SchemaDialect } from '../schema/tables.ts';

export const SQLITE_SCHEMA: SchemaDialect = {
  words: {
    TEXT: 'TEXT',
    INTEGER: 'INTEGER',
    REAL: 'REAL',
    BLOB: 'BLOB',
    NUMBERED: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    ROW_NUMBER: 'INTEGER PRIMARY KEY',
    BY_KEY: 'STRICT, WITHOUT ROWID',
    BY_NUMBER: 'STRICT',
  },
  unchecked: [],
  own: {
    /*
     * No ready job of a queue comes before the one with ready_priority and ready_job, and no waiting job is due before next_due_at.
     * NULL means that there is none. These are bounds, because a job that starts or ends does not change them. A claim corrects them.
     * An insert changes them itself, once per batch and queue.
     */
    queue: ['ready_priority PRIORITY', 'ready_job NUMBER', 'next_due_at TIME'],
    // Most jobs are inserted with 0 and NULL in these columns. One short test passes them: a CHECK for each cost 3 %.
    job: [
      `CHECK (attempts | crashes | runs | token | bytes | blockers = 0
    OR ${inRange(COUNTS, 'attempts', 'crashes', 'runs', 'token', 'bytes', 'blockers')})`,
      `CHECK (timeout_ms IS NULL AND backoff_base IS NULL AND attempt IS NULL AND run_at IS NULL AND started_at IS NULL
    AND finished_at IS NULL AND exit_code IS NULL AND duration_ms IS NULL AND unique_until IS NULL
    OR ${inRange(INTERVALS_MS, 'timeout_ms')} AND ${inRange([1, 1000], 'backoff_base')} AND ${inRange(NUMBERS, 'attempt')}
    AND ${inRange(TIMES_MS, 'run_at', 'started_at', 'finished_at', 'duration_ms', 'unique_until')}
    AND ${inRange(EXIT_CODES, 'exit_code')})`,
    ],
  },
  more: `
CREATE INDEX queue_ready ON queue (ready_priority DESC, ready_job) WHERE ready_job IS NOT NULL AND paused_at IS NULL;
CREATE INDEX queue_due ON queue (next_due_at) WHERE next_due_at IS NOT NULL AND paused_at IS NULL;
CREATE INDEX job_ended ON job (state, finished_at) WHERE phase = 'ended';
CREATE INDEX job_dead ON job (number, id, queue, name, last_error, finished_at, updated_at) WHERE state = 'dead';
CREATE INDEX job_by_queue ON job (queue, state, number);

INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(6))));

CREATE TRIGGER job_became_ready AFTER UPDATE OF number, queue, phase, priority ON job WHEN NEW.phase = 'ready' BEGIN
  UPDATE queue SET ready_priority = NEW.priority, ready_job = NEW.number WHERE number = NEW.queue AND (ready_job IS NULL
    OR ready_priority < NEW.priority OR ready_priority = NEW.priority AND ready_job > NEW.number);
END;
CREATE TRIGGER job_became_waiting AFTER UPDATE OF queue, phase, due_at ON job WHEN NEW.phase = 'waiting' BEGIN
  UPDATE queue SET next_due_at = NEW.due_at WHERE number = NEW.queue AND (next_due_at IS NULL OR next_due_at > NEW.due_at);
END;
CREATE TRIGGER job_unique_over AFTER UPDATE OF phase ON job
WHEN NEW.unique_slot IS NOT NULL AND (NEW.phase = 'ended' AND NEW.unique_while = 'active'
  OR NEW.phase IN ('running', 'ended') AND NEW.unique_while = 'pending') BEGIN
  UPDATE job SET unique_slot = NULL WHERE number = NEW.number;
END;
`,
  views: {
    text: (expression) => expression,
    time: (column) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`,
    json: (column) => column,
    property: (object, name, type) => `${object} ${type === 'json' ? '->' : '->>'} '${name}'`,
    array: (value, from) => `(SELECT json_group_array(${value}) ${from})`,
    dependsOn: `coalesce((SELECT json_group_array(iif(value ->> 'on' = 'ok', value ->> 'id', json(value)))
    FROM json_each(j.depends_on)), '[]')`,
    stdin: '(SELECT CAST(bytes AS TEXT) FROM stdin WHERE stdin.job = j.number)',
    manyHosts: false,
    more: '',
  },
};
