/** Small parts are joined as long as they have no more bytes than this, so that an attempt has at most some hundred parts. */
const JOINED_BYTES = 8192;
const SIZE = 'octet_length(output_part.bytes)';

/** Finds the attempts whose claims hold. $1 has the numbers of different attempts, and $2 the tokens of their claims. */
const HELD = `SELECT attempt.number FROM unnest($1::bigint[], $2::bigint[]) AS one (attempt, token)
  JOIN attempt ON attempt.number = one.attempt AND attempt.token = one.token
  WHERE finished_at IS NULL AND attempt.number = ANY($1)`;
/**
 * Locks these attempts until the parts are committed, so that none is added to an attempt that was settled or adopted meanwhile.
 * Attempts are locked in the order of their jobs, as in a settlement.
 */
export const lockHeld = `${HELD} ORDER BY attempt.job FOR NO KEY UPDATE OF attempt`;
/**
 * Adds parts. $3 to $6 are their attempts, streams, positions and bytes. Leaves out bytes before the end of the stored parts. A small
 * part is added to the last one, unless it begins at the position $7, where the parts begin that may be dropped later.
 */
export const addParts = `WITH held AS MATERIALIZED (${HELD}),
  given AS MATERIALIZED (SELECT one.attempt, one.stream, greatest(one.at, last.until) AS at, last.at AS last_at,
      substring(one.bytes FROM greatest(0, last.until - one.at)::int + 1) AS bytes, last.until, last.size
    FROM unnest($3::bigint[], $4::text[], $5::bigint[], $6::bytea[]) AS one (attempt, stream, at, bytes)
    JOIN held ON held.number = one.attempt
    LEFT JOIN LATERAL (SELECT output_part.at, ${SIZE} AS size, output_part.at + ${SIZE} AS until FROM output_part
      WHERE output_part.attempt = one.attempt AND output_part.stream = one.stream
      ORDER BY output_part.at DESC LIMIT 1) AS last ON true
    WHERE one.at + octet_length(one.bytes) > coalesce(last.until, -1)),
  chosen AS MATERIALIZED (SELECT *, at = until AND at <> $7 AND size + octet_length(bytes) <= ${JOINED_BYTES} AS is_joined FROM given),
  joined AS (UPDATE output_part SET bytes = output_part.bytes || chosen.bytes FROM chosen
    WHERE is_joined AND output_part.attempt = chosen.attempt AND output_part.stream = chosen.stream
      AND output_part.at = chosen.last_at)
  INSERT INTO output_part (attempt, stream, at, bytes)
  SELECT attempt, stream, at, bytes FROM chosen WHERE is_joined IS NOT TRUE`;
/** Drops the parts between the first and the last $3 bytes of each stream. */
export const dropParts = `WITH held AS MATERIALIZED (${HELD}),
  stream AS MATERIALIZED (SELECT attempt, stream, max(at + ${SIZE}) AS until FROM output_part
    WHERE attempt = ANY (ARRAY(SELECT number FROM held)) GROUP BY attempt, stream)
  DELETE FROM output_part USING stream WHERE output_part.attempt = stream.attempt AND output_part.stream = stream.stream
    AND output_part.at >= $3 AND output_part.at + ${SIZE} <= stream.until - $3`;
/** Stores how many bytes the attempts have in parts, and how many their commands had written at the last part. */
export const countParts = `WITH held AS MATERIALIZED (${HELD}),
  stream AS MATERIALIZED (SELECT attempt, max(at + ${SIZE}) AS until, sum(${SIZE}) AS bytes FROM output_part
    WHERE attempt = ANY (ARRAY(SELECT number FROM held)) GROUP BY attempt, stream),
  counted AS MATERIALIZED (SELECT attempt, sum(until) AS until, sum(bytes) AS bytes FROM stream GROUP BY attempt)
  UPDATE attempt SET shared_end = counted.until, shared_bytes = counted.bytes FROM counted
  WHERE attempt.number = counted.attempt AND attempt.number = ANY($1)`;

export const endsOf = `SELECT attempt, stream, max(at + ${SIZE}) AS "end" FROM output_part
  WHERE attempt = ANY($1) GROUP BY attempt, stream`;
/** Returns the positions and the sizes of the parts, but not their bytes. */
export const layoutOf = `SELECT at, ${SIZE} AS size FROM output_part WHERE attempt = $1 AND stream = $2 ORDER BY at`;
export const partsBetween = `SELECT at, bytes FROM output_part
  WHERE attempt = $1 AND stream = $2 AND at BETWEEN $3 AND $4 ORDER BY at`;

/** Finds the ended attempts whose output is in a file and was shared. */
export const attemptsWithParts =
  'SELECT number FROM attempt WHERE finished_at IS NOT NULL AND shared_bytes > 0 ORDER BY number';
export const partsOfAttempt =
  'SELECT stream, at, bytes FROM output_part WHERE attempt = $1 ORDER BY stream DESC, at';
