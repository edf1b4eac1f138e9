/** The SQL of each migration, oldest first. A released migration never changes. */
export const MIGRATIONS: readonly string[] = [
  // What the claim of a running attempt has changed in its job, as a JSON object. NULL means that it follows from the attempt.
  'ALTER TABLE attempt ADD COLUMN job_before TEXT',
  // Earlier versions stored a value here that was also in a file among the files of attempts, and the last `worker stop`.
  "DELETE FROM meta WHERE key IN ('seal', 'stop')",
  /*
   * A job could ask for a worker with a label, or of a host. Now it is in a queue of that name. Completed jobs stay in their queues,
   * because they never run again.
   */
  `DROP VIEW IF EXISTS dlq_jobs;
  DROP VIEW IF EXISTS jobs;
  DROP INDEX job_placed;
  DROP INDEX job_ready;
  CREATE INDEX job_ready ON job (queue, priority DESC, number) WHERE phase = 'ready';
  DROP TRIGGER job_became_ready;
  CREATE TRIGGER job_became_ready AFTER UPDATE OF number, queue, phase, priority ON job WHEN NEW.phase = 'ready' BEGIN
    UPDATE queue SET ready_priority = NEW.priority, ready_job = NEW.number WHERE number = NEW.queue AND (ready_job IS NULL
      OR ready_priority < NEW.priority OR ready_priority = NEW.priority AND ready_job > NEW.number);
  END;
  INSERT INTO queue (name) SELECT DISTINCT runs_on FROM job WHERE runs_on IS NOT NULL AND state <> 'completed' ON CONFLICT DO NOTHING;
  UPDATE job SET queue = (SELECT number FROM queue WHERE name = runs_on) WHERE runs_on IS NOT NULL AND state <> 'completed';
  UPDATE schedule SET job = json_remove(json_set(job, '$.queue', coalesce(job ->> 'runsOn', job ->> 'queue', 'default')), '$.runsOn')
    WHERE iif(json_valid(job), json_type(job, '$.runsOn'), NULL) IS NOT NULL;
  ALTER TABLE job DROP COLUMN runs_on;
  ALTER TABLE worker DROP COLUMN labels`,
  // A queue could raise the priority of its waiting jobs from time to time.
  `DROP INDEX queue_ready;
  ALTER TABLE queue DROP COLUMN aging_ms;
  CREATE INDEX queue_ready ON queue (ready_priority DESC, ready_job) WHERE ready_job IS NOT NULL AND paused_at IS NULL`,
];
