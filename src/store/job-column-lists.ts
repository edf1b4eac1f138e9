import { KEPT_FIELDS } from '../core/jobs/field-list.ts';

/** Returns the lists of job-columns.ts, each as a text. */
export function jobColumnLists() {
  const own = KEPT_FIELDS.filter((field) => field.in === undefined && field.column === undefined);
  const start = KEPT_FIELDS.filter((field) => field.column === 'start');
  const plain = own.filter((field) => field.plain && field.name !== 'queue');
  const rare = [...own, ...start].filter((field) => !field.plain);
  const columns = [...own.map((field) => field.name), 'hooks', 'policy', 'start'];
  return {
    ownKeys: own.map((field) => field.key).join(),
    startKeys: start.map((field) => field.key).join(),
    columns: columns.join(),
    selected: columns.map((column) => (column === 'queue' ? 'queue.name AS queue' : `job.${column}`)).join(),
    plainColumns: ['queue', ...plain.map((field) => field.name)].join(),
    plainKeys: plain.map((field) => field.key).join(),
    rareKeys: [...rare.map((field) => field.key), 'hooks', 'policy'].join(),
  };
}
