/** The SQL of each migration, oldest first. A released migration never changes. */
export const MIGRATIONS: readonly string[] = [
  // Since this version, attempts have no directories of their own, too. Older workers would not find the files of an attempt.
  `ALTER TABLE attempt ADD COLUMN signal TEXT;
  ALTER TABLE worker ADD COLUMN lease_until INTEGER NOT NULL DEFAULT 0 CHECK (lease_until BETWEEN 0 AND 8640000000000000);
  /*
   * No ready job of a queue comes before the one with ready_priority and ready_job, and no waiting job is due before next_due_at. NULL
   * means that there is none. These are bounds, because a job that starts or ends does not change them. A claim corrects them.
   */
  ALTER TABLE queue ADD COLUMN ready_priority INTEGER CHECK (ready_priority BETWEEN -1000000 AND 1000000);
  ALTER TABLE queue ADD COLUMN ready_job INTEGER CHECK (ready_job BETWEEN 1 AND 999999999999999);
  ALTER TABLE queue ADD COLUMN next_due_at INTEGER CHECK (next_due_at BETWEEN 0 AND 8640000000000000);
  UPDATE queue SET (ready_priority, ready_job) = (SELECT priority, number FROM job WHERE phase = 'ready' AND job.queue = queue.number
    ORDER BY priority DESC, number LIMIT 1),
    next_due_at = (SELECT min(due_at) FROM job WHERE phase = 'waiting' AND job.queue = queue.number);
  /* The rank of a job in a queue with priority aging changes all the time, so every claim reads all these queues, first. */
  CREATE INDEX queue_ready ON queue (aging_ms IS NULL, ready_priority DESC, ready_job)
    WHERE ready_job IS NOT NULL AND paused_at IS NULL;
  CREATE INDEX queue_due ON queue (next_due_at) WHERE next_due_at IS NOT NULL AND paused_at IS NULL;
  /* An insert changes the bounds itself, once per batch and queue. */
  CREATE TRIGGER job_became_ready AFTER UPDATE OF number, queue, phase, priority ON job WHEN NEW.phase = 'ready' BEGIN
    UPDATE queue SET ready_priority = NEW.priority, ready_job = NEW.number WHERE number = NEW.queue AND (ready_job IS NULL
      OR ready_priority < NEW.priority OR ready_priority = NEW.priority AND ready_job > NEW.number);
  END;
  CREATE TRIGGER job_became_waiting AFTER UPDATE OF queue, phase, due_at ON job WHEN NEW.phase = 'waiting' BEGIN
    UPDATE queue SET next_due_at = NEW.due_at WHERE number = NEW.queue AND (next_due_at IS NULL OR next_due_at > NEW.due_at);
  END`,
  /*
   * A job with runs_on waits for a worker with this label, or of this host. Such jobs have an index of their own, so that they never
   * stand before jobs that every worker can take. The bounds of a queue are those of its other jobs.
   */
  `ALTER TABLE job ADD COLUMN runs_on TEXT;
  ALTER TABLE worker ADD COLUMN labels TEXT;
  DROP INDEX job_ready;
  /* SQLite would read the row of each job to test runs_on if the index did not have it. */
  CREATE INDEX job_ready ON job (queue, priority DESC, number, runs_on) WHERE phase = 'ready' AND runs_on IS NULL;
  CREATE INDEX job_placed ON job (runs_on, queue, priority DESC, number) WHERE phase = 'ready' AND runs_on IS NOT NULL;
  DROP TRIGGER job_became_ready;
  CREATE TRIGGER job_became_ready AFTER UPDATE OF number, queue, phase, priority, runs_on ON job
  WHEN NEW.phase = 'ready' AND NEW.runs_on IS NULL BEGIN
    UPDATE queue SET ready_priority = NEW.priority, ready_job = NEW.number WHERE number = NEW.queue AND (ready_job IS NULL
      OR ready_priority < NEW.priority OR ready_priority = NEW.priority AND ready_job > NEW.number);
  END`,
];
