/**
 * `bytes` is the stored output of a job; the counters keep its sum. Ended jobs are found in the order in which they
 * ended, whatever their numbers: a job that waited for months is young when it ends, and stands in nobody's way.
 */
export default `
ALTER TABLE job ADD COLUMN hooks TEXT;
ALTER TABLE job ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counter ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER job_added;
DROP TRIGGER job_changed;
DROP TRIGGER job_removed;
UPDATE job SET bytes = (SELECT sum(iif(truncated, min(output_bytes, 10485760), output_bytes)) FROM attempt
    WHERE attempt.job = job.number)
  WHERE number IN (SELECT job FROM attempt WHERE output_bytes > 0);
UPDATE counter SET bytes = (SELECT coalesce(sum(bytes), 0) FROM job
  WHERE job.queue = counter.queue AND job.state = counter.state);

CREATE TRIGGER job_added AFTER INSERT ON job BEGIN
  INSERT INTO counter VALUES (NEW.queue, NEW.state, 1, NEW.bytes)
    ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER job_changed AFTER UPDATE OF state, queue, bytes ON job
WHEN OLD.state IS NOT NEW.state OR OLD.queue IS NOT NEW.queue OR OLD.bytes IS NOT NEW.bytes BEGIN
  UPDATE counter SET jobs = jobs - 1, bytes = bytes - OLD.bytes WHERE queue = OLD.queue AND state = OLD.state;
  INSERT INTO counter VALUES (NEW.queue, NEW.state, 1, NEW.bytes)
    ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + 1, bytes = bytes + NEW.bytes;
END;
CREATE TRIGGER job_removed AFTER DELETE ON job BEGIN
  UPDATE counter SET jobs = jobs - 1, bytes = bytes - OLD.bytes WHERE queue = OLD.queue AND state = OLD.state;
END;

CREATE INDEX job_ended ON job (state, finished_at) WHERE phase = 'ended';
`;
