/** When a job is tried again, where it differs from the settings: exit codes, at most once. */
export default 'ALTER TABLE job ADD COLUMN policy TEXT;';
