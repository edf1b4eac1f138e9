/**
 * `unique_slot` is the key while it is taken, and the index does the rest: of two jobs with one key the second is not
 * added, whoever comes at the same moment.
 */
export default `
ALTER TABLE job ADD COLUMN unique_key TEXT;
ALTER TABLE job ADD COLUMN unique_while TEXT CHECK (unique_while IN ('pending', 'active'));
ALTER TABLE job ADD COLUMN unique_until INTEGER;
ALTER TABLE job ADD COLUMN unique_slot TEXT;
CREATE UNIQUE INDEX job_unique ON job (unique_slot) WHERE unique_slot IS NOT NULL;

CREATE TRIGGER job_unique_over AFTER UPDATE OF phase ON job
WHEN NEW.unique_slot IS NOT NULL AND (NEW.phase = 'ended' AND NEW.unique_while = 'active'
  OR NEW.phase IN ('running', 'ended') AND NEW.unique_while = 'pending') BEGIN
  UPDATE job SET unique_slot = NULL WHERE number = NEW.number;
END;
`;
