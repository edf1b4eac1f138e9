import { type AttemptOutcome, COUNT_NAMES } from '../../core/rules/figures.ts';
import { addToPacked, bucketOf, type PackedCounts } from '../../core/rules/histogram.ts';
import { inAllTimeAndTiers, MAX_NAMES, MAX_PAIRS, OTHER_LABEL } from '../../core/rules/tiers.ts';
import type { Row } from '../row.ts';
import { all, get, run, type Steps, together } from '../steps.ts';

/** A row of the log that has a figure. */
export interface LoggedFigure {
  figure: AttemptOutcome | 'enqueued' | 'dropped';
  at: number;
  queue: number;
  /** The name of the queue. */
  label: string;
  name: string;
  jobs: number;
  wait_ms: number | null;
  run_ms: number | null;
}

/** A pair of queue and name that has figures of its own. */
export interface Kind extends Pick<LoggedFigure, 'queue' | 'name' | 'label'> {
  number: number;
}

const TIMES = ['wait', 'run'] as const;

/** The times that a fold adds to one row. */
interface Times {
  sumMs: number;
  least: number | null;
  most: number | null;
  buckets: number[];
}

/** The figures that a fold adds to the row of one period and kind. */
interface Sum extends Record<(typeof TIMES)[number], Times> {
  tier: number;
  at: number;
  kind: number;
  counts: Record<string, number>;
}

const noTimes = (): Times => ({ sumMs: 0, least: null, most: null, buckets: [] });

/** Selects the rows of the log that count in figures. A row whose queue was removed has no label. */
export const selectFigures = (join: 'JOIN' | 'LEFT JOIN'): string =>
  `SELECT seq, figure, figure_at AS at, new_queue AS queue, queue.name AS label, coalesce(log.name, '') AS name, jobs, wait_ms, run_ms
  FROM log ${join} queue ON queue.number = new_queue`;
const SELECT_KINDS = `SELECT rollup_kind.number, rollup_kind.queue, rollup_kind.name, queue.name AS label
  FROM rollup_kind LEFT JOIN queue ON queue.number = rollup_kind.queue`;
const INSERT_KIND = 'INSERT INTO rollup_kind (name, queue) VALUES ($1, $2) RETURNING number';
const PACKED_TIMES = 'SELECT wait, run FROM rollup WHERE tier = $1 AND at = $2 AND kind = $3';
const columns = ['tier', 'at', 'kind', ...COUNT_NAMES];
for (const name of TIMES) columns.push(`${name}_ms`, `${name}_least`, `${name}_most`, name);
const added = (column: string): string => `${column} = rollup.${column} + excluded.${column}`;
/** Returns an assignment that keeps the smaller (`<`) or the larger (`>`) of the stored value and the new one. Null values are ignored. */
const better = (column: string, sign: '<' | '>'): string => `${column} = coalesce(
  CASE WHEN excluded.${column} ${sign} rollup.${column} THEN excluded.${column} END, rollup.${column}, excluded.${column})`;
/** Adds to the figures of one period and kind. The packed counts replace the old ones. */
const ADD_FIGURES = `INSERT INTO rollup (${columns.join(', ')}) VALUES (${columns.map((_, i) => `$${i + 1}`).join(', ')})
  ON CONFLICT (tier, at, kind) DO UPDATE SET ${[
    ...COUNT_NAMES.map(added),
    ...TIMES.flatMap((name) => [
      ...[added(`${name}_ms`), better(`${name}_least`, '<'), better(`${name}_most`, '>')],
      `${name} = coalesce(excluded.${name}, rollup.${name})`,
    ]),
  ].join(', ')}`;

/** Adds figures to the rows of all time, the minute, the hour and the day, in a transaction that holds the lock of the log. */
export function* addFigures(figures: LoggedFigure[]): Steps<void> {
  if (figures.length === 0) return;
  const sums = yield* sumFigures(figures, yield* kindFinder());
  const packed = yield* together(
    ...sums.map(({ tier, at, kind }) => get<Packed>(PACKED_TIMES, tier, at, kind)),
  );
  const rows = sums.map((sum, i) => rollupRow(sum, packed[i]));
  yield* together(...rows.map((row) => run(ADD_FIGURES, ...columns.map((column) => row[column]!))));
}

/** Sums figures by period and kind. */
export function* sumFigures(figures: LoggedFigure[], kindOf: KindFinder): Steps<Sum[]> {
  const sums = new Map<string, Sum>();
  for (const one of figures) {
    const kind = yield* kindOf(one);
    inAllTimeAndTiers(one.at, (tier, at) => {
      const key = `${tier} ${at} ${kind}`;
      const sum = sums.get(key) ?? { tier, at, kind, counts: {}, wait: noTimes(), run: noTimes() };
      sums.set(key, sum);
      sum.counts[one.figure] = (sum.counts[one.figure] ?? 0) + one.jobs;
      addTime(sum.wait, one.wait_ms);
      addTime(sum.run, one.run_ms);
    });
  }
  return [...sums.values()];
}

function addTime(times: Times, ms: number | null): void {
  if (ms === null) return;
  times.sumMs += ms;
  times.least = Math.min(times.least ?? ms, ms);
  times.most = Math.max(times.most ?? ms, ms);
  times.buckets.push(bucketOf(ms));
}

type Packed = Record<(typeof TIMES)[number], PackedCounts | null>;

/** Returns a row with these sums. `before` has the packed counts of the row to which they are added. */
export function rollupRow({ tier, at, kind, counts, ...times }: Sum, before?: Packed): Row {
  const row: Row = { tier, at, kind, oldest_ms: 0 };
  for (const name of COUNT_NAMES) row[name] = counts[name] ?? 0;
  for (const name of TIMES) {
    const { sumMs, least, most, buckets } = times[name];
    Object.assign(row, { [`${name}_ms`]: sumMs, [`${name}_least`]: least, [`${name}_most`]: most });
    row[name] = pack(before?.[name] ?? null, buckets);
  }
  return row;
}

/** Returns the packed counts with further times, or null if there are none to add. */
function pack(before: PackedCounts | null, buckets: number[]): PackedCounts | null {
  if (buckets.length === 0) return null;
  return buckets.reduce<PackedCounts | null>((counts, bucket) => addToPacked(counts, bucket), before);
}

export const readKinds = (): Steps<Kind[]> => all<Kind>(SELECT_KINDS);

type KindFinder = (one: Omit<Kind, 'number'>) => Steps<number>;

function* insertKind({ queue, name }: Omit<Kind, 'number'>): Steps<number> {
  return (yield* get<{ number: number }>(INSERT_KIND, name, queue))!.number;
}

/** Returns a function that finds the number under which a queue and a name are counted. On first use it is added, also to `kinds`. */
export function* kindFinder(kinds?: Kind[], add: KindFinder = insertKind): Steps<KindFinder> {
  const known = kinds ?? (yield* readKinds());
  const numbers = new Map(known.map(({ number, queue, name }) => [`${queue} ${name}`, number]));
  const names = new Set(known.map((kind) => kind.name).filter((name) => name !== ''));
  let pairs = known.filter((kind) => kind.name !== '').length;
  /** Returns the name to count under: OTHER_LABEL if there are too many names, or too many pairs of queue and name. */
  const nameFor = (name: string): string => {
    if (name === '' || name === OTHER_LABEL) return name;
    const fits = pairs < MAX_PAIRS && (names.size < MAX_NAMES || names.has(name));
    return fits ? name : OTHER_LABEL;
  };
  return function* find(one): Steps<number> {
    const { queue, label, name } = one;
    const found = numbers.get(`${queue} ${name}`);
    if (found !== undefined) return found;
    const allowed = nameFor(name);
    if (allowed !== name) return yield* find({ ...one, name: allowed });
    const number = yield* add(one);
    known.push({ number, queue, label, name });
    numbers.set(`${queue} ${name}`, number);
    if (name !== '') {
      names.add(name);
      pairs++;
    }
    return number;
  };
}
