/** Counts the connections that ordinary roles can use, and those in use. */
export const connections = `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0) AS connections,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`;
/** What `doctor` reads. Some columns of other roles' connections are null for a role without pg_read_all_stats. */
export const server = `SELECT current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('autovacuum') AS autovacuum, one.* FROM (${connections}) AS one`;
export const clock = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now';
/** Finds the tables with the most dead rows, which make statements slow until a vacuum removes them. */
export const deadRows = `SELECT relname AS table, n_dead_tup AS dead, n_live_tup AS live FROM pg_stat_user_tables
  WHERE relid IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid)
    AND n_dead_tup > 20000 + n_live_tup / 2 ORDER BY n_dead_tup DESC LIMIT 3`;
/**
 * Finds the oldest transaction because of which a vacuum must keep dead rows: it has a snapshot, or it has written and may be idle.
 * `hidden` counts those of other roles whose age only a member of pg_monitor sees.
 */
export const oldestSnapshot = `SELECT holder, age_ms, count(*) FILTER (WHERE age_ms IS NULL) OVER () AS hidden FROM (
    SELECT 'process ' || pid || ' of ' || coalesce(nullif(application_name, ''), 'an unnamed program') AS holder,
      (extract(epoch FROM clock_timestamp() - xact_start) * 1000)::bigint AS age_ms FROM pg_stat_activity
    WHERE coalesce(backend_xmin, backend_xid) IS NOT NULL AND pid <> pg_backend_pid() AND datname = current_database()
    UNION ALL SELECT 'the prepared transaction ' || gid, (extract(epoch FROM clock_timestamp() - prepared) * 1000)::bigint
    FROM pg_prepared_xacts WHERE database = current_database()) AS one
  ORDER BY age_ms DESC NULLS LAST LIMIT 1`;
/** The role that owns the tables, so that it may create objects in the schema. */
const TABLE_OWNER = `(SELECT relowner FROM pg_class WHERE oid = to_regclass('meta'))`;
/**
 * Finds who has rights that let others harm the queue: the roles, beside the owner of the tables, that own the schema or may create
 * objects in it, and whether every role may enqueue or change tables. A null grantee is every role.
 */
export const rights = `SELECT has_table_privilege('job', 'INSERT') AS works,
  (SELECT string_agg(coalesce(quote_ident(rolname), 'PUBLIC'), ', ')
    FROM pg_namespace, aclexplode(nspacl) LEFT JOIN pg_roles ON pg_roles.oid = grantee
    WHERE nspname = current_schema() AND privilege_type = 'CREATE' AND grantee NOT IN (nspowner, ${TABLE_OWNER})) AS creators,
  (SELECT quote_ident(rolname) FROM pg_namespace JOIN pg_roles ON pg_roles.oid = nspowner
    WHERE nspname = current_schema() AND nspowner <> ${TABLE_OWNER} AND NOT rolsuper AND rolname <> 'pg_database_owner'
      AND nspowner <> (SELECT datdba FROM pg_database WHERE datname = current_database())
      AND (rolcanlogin OR NOT pg_has_role(${TABLE_OWNER}, nspowner, 'MEMBER'))) AS "schemaOwner",
  (SELECT quote_ident(rolname) FROM pg_roles WHERE oid = ${TABLE_OWNER}) AS "tableOwner",
  EXISTS (SELECT FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
    WHERE pg_proc.oid = to_regprocedure('enqueue(json)') AND grantee = 0) AS "allEnqueue",
  EXISTS (SELECT FROM pg_class, aclexplode(relacl) WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
    AND grantee = 0 AND privilege_type <> 'SELECT') AS "allWrite"`;
/** Counts the rows of the log, but not all of very many. */
export const unfolded = 'SELECT count(*) AS rows FROM (SELECT 1 FROM log LIMIT 1000001) AS one';
