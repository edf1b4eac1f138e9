/** What the care of a store asks. Apart from sql.ts because all of it reads whole tables, and is meant to. */

export const quickCheck = 'PRAGMA quick_check(20)';
export const schemaObjects = `SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name`;

export const origin = "SELECT value FROM meta WHERE key = 'origin'";
export const keepOrigin = `INSERT INTO meta SELECT 'origin', value FROM meta WHERE key = 'epoch'
  ON CONFLICT DO UPDATE SET value = excluded.value`;
export const newEpoch = "UPDATE meta SET value = lower(hex(randomblob(6))) WHERE key = 'epoch'";
export const forgetWorkers = 'DELETE FROM worker';
export const forgetSupervisors = 'DELETE FROM supervisor';
