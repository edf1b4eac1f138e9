/** What `doctor` reads. Some columns of other roles' connections are null for a role without pg_read_all_stats. */
export const server = `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('autovacuum') AS autovacuum, current_setting('max_connections')::bigint
    - current_setting('superuser_reserved_connections')::bigint
    - coalesce(current_setting('reserved_connections', true)::bigint, 0) AS connections,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`;
export const clock = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';
/** Finds the tables with the most dead rows, which make statements slow until a vacuum removes them. */
export const deadRows = `SELECT relname AS table, n_dead_tup AS dead, n_live_tup AS live FROM pg_stat_user_tables
  WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid)
    AND n_dead_tup > 20000 + n_live_tup / 2 ORDER BY n_dead_tup DESC LIMIT 3`;
/** Finds the oldest transaction because of which a vacuum must keep dead rows. */
export const oldestSnapshot = `SELECT holder, age_ms FROM (
    SELECT 'process ' || pid || ' of ' || coalesce(nullif(application_name, ''), 'an unnamed program') AS holder,
      (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint AS age_ms FROM pg_stat_activity
    WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND datname = current_database()
    UNION ALL SELECT 'the prepared transaction ' || gid, (extract(epoch FROM clock_timestamp() - prepared) * 1000)::bigint
    FROM pg_prepared_xacts WHERE database = current_database()) AS one
  WHERE age_ms IS NOT NULL ORDER BY age_ms DESC LIMIT 1`;
/** Counts the rows of the log, but not all of very many. */
export const unfolded = 'SELECT count(*) AS rows FROM (SELECT 1 FROM log LIMIT 1000001) AS one';
