import { type Client, connectClient } from '../../src/store/postgres/connection/client.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import type { Audit } from './audit.ts';
import type { Change, JobRow, Violation } from './checker.ts';
import {
  countsOfCounters,
  countsOfEvents,
  type EventRow,
  SELECT_COUNTERS,
  SELECT_EVENTS,
} from './event-log.ts';

/**
 * Triggers that record the same changes as those in audit.ts. The actor is copied from the log row of the change, which is inserted
 * after the job was changed.
 */
const TRIGGERS = `
CREATE TABLE audit (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job text, source text, from_state text, to_state text,
  from_token bigint, to_token bigint, from_holder text, to_holder text, actor text);
CREATE INDEX audit_by_job ON audit (job, source, seq);
CREATE FUNCTION audit_job() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit (job, source, from_state, to_state, from_token, to_token, from_holder, to_holder)
  VALUES (coalesce(NEW.id, OLD.id), 'job', OLD.state, NEW.state, OLD.token, NEW.token, OLD.worker_id, NEW.worker_id);
  RETURN NULL;
END $$;
CREATE FUNCTION audit_attempt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit (job, source, from_state, to_state, from_token, to_token, from_holder, to_holder)
  SELECT id, 'attempt', 'processing', 'processing', OLD.token, NEW.token, OLD.worker_id, NEW.worker_id
  FROM job WHERE number = NEW.job;
  RETURN NULL;
END $$;
CREATE FUNCTION audit_actor() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE audit SET actor = NEW.actor
  WHERE seq = (SELECT max(seq) FROM audit WHERE job = NEW.id AND source = 'job');
  RETURN NULL;
END $$;
CREATE TRIGGER audit_added_or_removed AFTER INSERT OR DELETE ON job FOR EACH ROW EXECUTE FUNCTION audit_job();
CREATE TRIGGER audit_changed AFTER UPDATE ON job FOR EACH ROW
  WHEN (OLD.phase IS DISTINCT FROM NEW.phase OR OLD.token <> NEW.token OR OLD.worker_id IS DISTINCT FROM NEW.worker_id
    OR OLD.phase = 'ended') EXECUTE FUNCTION audit_job();
CREATE TRIGGER audit_attempt_changed AFTER UPDATE ON attempt FOR EACH ROW
  WHEN (OLD.token <> NEW.token OR OLD.worker_id <> NEW.worker_id) EXECUTE FUNCTION audit_attempt();
CREATE TRIGGER audit_logged AFTER INSERT ON log FOR EACH ROW WHEN (NEW.attempt IS NOT NULL AND NEW.kind IN
  ('started', 'adopted', 'requeued', 'completed', 'failed', 'dead', 'cancelled')) EXECUTE FUNCTION audit_actor();`;

/** Runs `work` on a connection of its own to the schema of a URL. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const location = readLocation(url, {});
  const client = await connectClient(location);
  try {
    await client.query(`SET search_path = ${location.schema}`);
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the audit of the store at a URL. `fold` turns all rows of the log into events, counters and figures. */
export function postgresAudit(url: string, fold: () => Promise<void>): Audit {
  const all = <T>(sql: string): Promise<T[]> =>
    withClient(url, async (client) => (await client.query(sql)).rows as T[]);
  return {
    start: () => withClient(url, async (client) => void (await client.query(TRIGGERS))),
    unfinishedWork: async () => {
      const jobs = await all<{ id: string; token: number; phase: string }>(
        "SELECT id, token, phase FROM job WHERE phase <> 'ended'",
      );
      const running = jobs.filter(({ phase }) => phase === 'running');
      return {
        unfinished: jobs.length,
        claims: running.map(({ id, token }) => `the claim ${token} of ${id}`),
      };
    },
    storedSettings: async () =>
      new Map(
        (await all<{ key: string; value: string }>('SELECT key, value FROM setting')).map(
          ({ key, value }) => [key, value],
        ),
      ),
    readJobs: () =>
      all<JobRow>(`SELECT id, state, attempts, max_retries AS "maxRetries", crashes,
        (SELECT string_agg(why || coalesce(' ' || exit_code, ''), ', ') FROM attempt WHERE job = job.number) AS results
        FROM job ORDER BY number`),
    readChanges: () =>
      all<Change>(`SELECT job, from_state AS "from", to_state AS "to", from_token AS "fromToken", to_token AS "toToken",
        from_holder AS "fromHolder", to_holder AS "toHolder", actor FROM audit
        WHERE from_state IS NOT NULL AND to_state IS NOT NULL ORDER BY seq`),
    brokenInvariants: async () => {
      await fold();
      return brokenInvariants(all);
    },
  };
}

/** Maps each invariant of the database to a query that must return no rows. */
const INVARIANTS: Record<string, string> = {
  'the log is empty': 'SELECT * FROM log',
  'counters = rows': `(SELECT queue, state, jobs, bytes FROM counter WHERE jobs <> 0 OR bytes <> 0
      EXCEPT SELECT queue, state, count(*), sum(bytes) FROM job GROUP BY 1, 2)
    UNION ALL (SELECT queue, state, count(*), sum(bytes) FROM job GROUP BY 1, 2
      EXCEPT SELECT queue, state, jobs, bytes FROM counter)`,
  'counters = changes': `SELECT state, sum(step) AS jobs FROM
      (SELECT to_state AS state, 1 AS step FROM audit WHERE to_state IS NOT NULL
       UNION ALL SELECT from_state, -1 FROM audit WHERE from_state IS NOT NULL) AS steps
    GROUP BY state HAVING sum(step) <> 0 EXCEPT SELECT state, sum(jobs) FROM counter GROUP BY state`,
  'figures = changes': `SELECT sum(enqueued) AS enqueued, sum(completed) AS completed FROM rollup WHERE tier = 0
    EXCEPT SELECT count(*) FILTER (WHERE from_state IS NULL), count(*) FILTER (WHERE to_state = 'completed') FROM audit
    WHERE to_state IS NOT NULL`,
  'a token is used once': 'SELECT job, token FROM attempt GROUP BY job, token HAVING count(*) > 1',
  'every charged attempt has a row': `SELECT id FROM job WHERE attempts + crashes >
    (SELECT count(*) FROM attempt WHERE attempt.job = job.number)`,
};

async function brokenInvariants(all: <T>(sql: string) => Promise<T[]>): Promise<Violation[]> {
  const found: Violation[] = [];
  for (const [name, sql] of Object.entries(INVARIANTS)) {
    const rows = await all(sql);
    if (rows.length > 0)
      found.push({ kind: 'invariant', what: `${name}: ${JSON.stringify(rows.slice(0, 3))}` });
  }
  const fromEvents = countsOfEvents(await all<EventRow>(SELECT_EVENTS));
  const fromCounters = countsOfCounters(await all(SELECT_COUNTERS));
  if (fromEvents !== null && fromEvents !== fromCounters)
    found.push({ kind: 'invariant', what: `counters = event log: ${fromCounters}, but ${fromEvents}` });
  return found;
}
