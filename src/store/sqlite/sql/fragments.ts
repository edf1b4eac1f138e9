/**
 * Every statement of the store is in this folder, in one file for each part of the contract, so that it can be read beside
 * another dialect. SQLite uses a partial index only if the statement repeats its predicate literally, so `phase = 'ready'`
 * is never a parameter.
 */

export const JOB = `job.number, id, command, argv, queue.name AS queue, priority, max_retries, timeout_ms, run_at, backoff_base,
  cwd, env, tags, state, attempts, crashes, runs, token, attempt, worker_id, created_at, updated_at, due_at, started_at,
  finished_at, exit_code, last_error, duration_ms, job.name, phase, hooks, policy, unique_key, unique_while, unique_until, depends_on, start`;
export const FROM_JOB = 'FROM job CROSS JOIN queue ON queue.number = job.queue';
