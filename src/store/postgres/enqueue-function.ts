import { COMMAND_LIMIT } from '../../core/jobs/command-text.ts';
import { RANGES, SETTINGS } from '../../core/settings/settings.ts';

const isOutside = (value: string, { min, max }: { min: number; max: number }): string =>
  `${value} NOT BETWEEN ${min} AND ${max}`;

/** Linux starts no command whose arguments and variables are longer together than half of this. */
const JOB_LIMIT = 4_194_304;

/**
 * Creates the function with which programs of any language enqueue a job in their own transaction. It takes the most common fields
 * of a job object, and only plain names, so that it does not repeat the rules for all others. It adds the same rows as `insert`. A
 * migration that changes these rows must replace the function.
 *
 * It has the rights of its owner, so that a role can enqueue without any right to the tables. So nothing that the caller can create
 * may be found in place of what it uses: names are searched in pg_catalog, and tables are named with their schema.
 */
export const ENQUEUE_FUNCTION = `
CREATE OR REPLACE FUNCTION enqueue(given json) RETURNS text LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $enqueue$
DECLARE
  alphabet CONSTANT text := '0123456789abcdefghjkmnpqrstvwxyz';
  field text;
  found_type text;
  wanted_type text;
  problem text;
  at_ms CONSTANT bigint := floor(extract(epoch FROM clock_timestamp()) * 1000);
  due_ms bigint;
  new_id text;
  new_command text;
  new_cwd text;
  new_priority numeric;
  new_max_retries numeric;
  new_timeout_ms numeric;
  delay_ms numeric;
  queue_name text;
  queue_number bigint;
  job_number bigint;
  store_id text;
BEGIN
  IF given IS NULL OR json_typeof(given) <> 'object' THEN
    RAISE EXCEPTION 'queuectl: the job must be a JSON object' USING ERRCODE = '22023';
  END IF;
  FOR field, found_type IN SELECT key, json_typeof(value) FROM json_each(given) LOOP
    CONTINUE WHEN found_type = 'null';
    wanted_type := CASE
      WHEN field IN ('command', 'id', 'queue', 'name', 'cwd') THEN 'string'
      WHEN field IN ('priority', 'max_retries', 'timeout', 'delay') THEN 'number'
      WHEN field IN ('tags', 'env') THEN 'object' END;
    IF wanted_type IS NULL THEN
      RAISE EXCEPTION 'queuectl: enqueue(json) does not support the field "%"', field USING ERRCODE = '22023',
        HINT = 'The fields are command, id, queue, name, cwd, priority, max_retries, timeout, delay, tags and env.';
    ELSIF found_type <> wanted_type THEN
      RAISE EXCEPTION 'queuectl: the field "%" must be of the type %, not %', field, wanted_type, found_type
        USING ERRCODE = '22023';
    ELSIF field IN ('id', 'queue', 'name') AND given ->> field !~ '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$' THEN
      RAISE EXCEPTION 'queuectl: the field "%" must have 1 to 128 letters, digits, or characters of _.:-', field
        USING ERRCODE = '22023';
    ELSIF wanted_type = 'object' AND EXISTS
      (SELECT FROM json_each(given -> field) WHERE json_typeof(value) <> 'string' OR key = '') THEN
      RAISE EXCEPTION 'queuectl: the values in "%" must be strings', field USING ERRCODE = '22023';
    END IF;
  END LOOP;

  new_command := given ->> 'command';
  new_cwd := coalesce(given ->> 'cwd', '/');
  queue_name := coalesce(given ->> 'queue', 'default');
  new_priority := coalesce((given ->> 'priority')::numeric, 0);
  new_max_retries := coalesce((given ->> 'max_retries')::numeric,
    (SELECT value::numeric FROM :schema.setting WHERE key = 'max-retries'), ${SETTINGS['max-retries'].default});
  delay_ms := round(coalesce((given ->> 'delay')::numeric, 0) * 1000);
  new_timeout_ms := round((given ->> 'timeout')::numeric * 1000);
  IF new_timeout_ms IS NULL THEN
    SELECT sum(part[1]::numeric * CASE part[2] WHEN 'ms' THEN 1 WHEN 's' THEN 1000 WHEN 'm' THEN 60000
      WHEN 'h' THEN 3600000 WHEN 'd' THEN 86400000 ELSE 604800000 END) INTO new_timeout_ms
    FROM :schema.setting, regexp_matches(value, '([0-9.]+) *(ms|[smhdw])', 'g') AS part WHERE key = 'job-timeout';
  END IF;
  problem := CASE
    WHEN octet_length(given::text) > ${JOB_LIMIT} THEN 'the job is longer than ${JOB_LIMIT} bytes'
    WHEN new_command IS NULL OR btrim(new_command, E' \\t\\n\\r') = '' THEN 'the field "command" is missing or empty'
    WHEN octet_length(new_command) > ${COMMAND_LIMIT} THEN 'the field "command" is longer than ${COMMAND_LIMIT} bytes'
    WHEN left(new_cwd, 1) <> '/' THEN 'the field "cwd" must be an absolute path'
    WHEN new_priority % 1 <> 0 OR ${isOutside('new_priority', RANGES.priority)} THEN 'the field "priority" is out of range'
    WHEN new_max_retries % 1 <> 0 OR ${isOutside('new_max_retries', RANGES.maxRetries)}
      THEN 'the field "max_retries" is out of range'
    WHEN ${isOutside('new_timeout_ms', RANGES.durationMs)} THEN 'the field "timeout" is out of range'
    WHEN ${isOutside('delay_ms', { ...RANGES.durationMs, min: 0 })} THEN 'the field "delay" is out of range'
    WHEN EXISTS (SELECT FROM json_each(given -> 'env')
      WHERE key !~ '^[^=[:space:]]+$' OR key LIKE 'QUEUECTL\\_%') THEN 'a name in "env" is not allowed' END;
  IF problem IS NOT NULL THEN
    RAISE EXCEPTION 'queuectl: %', problem USING ERRCODE = '22023';
  END IF;

  /* Reading meta also keeps a migration from starting before this transaction has ended. */
  SELECT value INTO store_id FROM :schema.meta WHERE key = 'store';
  LOOP
    SELECT number INTO queue_number FROM :schema.queue WHERE name = queue_name;
    EXIT WHEN FOUND;
    INSERT INTO :schema.queue (name) VALUES (queue_name) ON CONFLICT DO NOTHING;
  END LOOP;
  new_id := coalesce(given ->> 'id', (SELECT string_agg(substr(alphabet,
      (CASE WHEN place < 9 THEN (at_ms >> (5 * (8 - place))) & 31 ELSE floor(random() * 32)::bigint END)::int + 1, 1), ''
    ORDER BY place) FROM generate_series(0, 16) AS place));
  due_ms := at_ms + delay_ms;
  INSERT INTO :schema.job (id, name, queue, state, phase, priority, max_retries, timeout_ms, created_at, updated_at, run_at, due_at,
    cwd, tags, env, command)
  VALUES (new_id, given ->> 'name', queue_number, 'pending', CASE WHEN due_ms > at_ms THEN 'waiting' ELSE 'ready' END,
    new_priority, new_max_retries, new_timeout_ms, at_ms, at_ms, CASE WHEN due_ms > at_ms THEN due_ms END, due_ms,
    new_cwd, nullif((given -> 'tags')::jsonb::text, '{}'), nullif((given -> 'env')::jsonb::text, '{}'), new_command)
  ON CONFLICT (id) DO NOTHING RETURNING number INTO job_number;
  IF job_number IS NULL THEN
    RAISE EXCEPTION 'queuectl: a job with the id "%" already exists', new_id USING ERRCODE = '23505';
  END IF;
  INSERT INTO :schema.log (at, actor, kind, first_job, id, queue, new_queue, new_state, new_bytes, figure, figure_at, name)
  VALUES (at_ms, session_user, 'enqueued', job_number, new_id, queue_number, queue_number, 'pending', 0, 'enqueued', at_ms,
    coalesce(given ->> 'name', ''));
  PERFORM pg_notify('queuectl_' || store_id, 'wake');
  RETURN new_id;
END
$enqueue$;
REVOKE ALL ON FUNCTION enqueue(json) FROM PUBLIC;
`;
