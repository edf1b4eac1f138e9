import { endedAgingNotes, movedLabelsNotes } from '../jobs/removed-names.ts';
import { orNull } from '../text/language.ts';

interface ExportedRow {
  table: string;
  row: Record<string, string | number | bigint | Uint8Array | null>;
}

/**
 * Converts the rows of an export, which may be of an older version, as a migration converts those of a store: jobs and schedules with
 * a label move to the queue of that name, and queues have no priority aging. Queues must come before jobs.
 */
export function createRowConverter() {
  const queues = new Map<unknown, number>();
  const labels = new Set<string>();
  const aged = new Set<string>();
  const convertQueue = ({ aging_ms: aging = null, ...row }: ExportedRow['row']): ExportedRow => {
    queues.set(row.name, Number(row.number));
    if (aging !== null) aged.add(String(row.name));
    return { table: 'queue', row };
  };
  function* convertJob({ runs_on: label = null, ...row }: ExportedRow['row']): Generator<ExportedRow> {
    // A completed job never runs again.
    if (label !== null && row.state !== 'completed') {
      labels.add(String(label));
      if (!queues.has(label)) {
        const number = Math.max(0, ...queues.values()) + 1;
        queues.set(label, number);
        yield { table: 'queue', row: { number, name: label } };
      }
      row.queue = queues.get(label)!;
    }
    yield { table: 'job', row };
  }
  const convertSchedule = (row: ExportedRow['row']): ExportedRow => {
    const { runsOn = null, ...job } = parseObject(row.job);
    if (runsOn === null) return { table: 'schedule', row };
    labels.add(String(runsOn));
    return { table: 'schedule', row: { ...row, job: JSON.stringify({ ...job, queue: runsOn }) } };
  };
  return {
    *convert(given: ExportedRow): Generator<ExportedRow> {
      const { table, row } = given;
      if (table === 'queue') yield convertQueue(row);
      else if (table === 'job') yield* convertJob(row);
      else yield table === 'schedule' ? convertSchedule(row) : given;
    },
    /** Returns what the user should know about the converted rows. */
    notes: (): string[] => [...movedLabelsNotes([...labels].sort()), ...endedAgingNotes([...aged])],
  };
}

/** Parses a JSON object. Returns an empty one for anything else, which the store refuses. */
function parseObject(text: unknown): Record<string, unknown> {
  return Object(orNull(() => JSON.parse(String(text))));
}
