import { withQuery } from '../frame/router.ts';
import type { Steady } from '../parts/steady.ts';
import { TableBox } from '../parts/table-box.tsx';
import type { Job } from '../types.ts';
import { JOBS } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import { COLUMNS, DEFAULT_COLUMNS, shownError } from './columns.tsx';

interface JobTableProps {
  jobs: Job[];
  columns?: string[];
  /** The column to sort by, with `-` before it for descending order. Undefined turns sorting off. */
  sort?: string | null;
  /** The selected ids. Undefined turns selection off. */
  selected?: ReadonlySet<string>;
  onSelect?(id: string): void;
  onSelectPage?(all: boolean): void;
  /** The jobs that left the list, and the rows as they were when they were held. */
  steady?: Pick<Steady<Job>, 'gone' | 'before'>;
}

/** A row that is held keeps its number of lines, so that the rows below it do not move. */
function lookOf(
  job: Job,
  selected: JobTableProps['selected'] | undefined,
  steady: JobTableProps['steady'] | undefined,
): string {
  const before = steady?.before.get(job.id);
  return [
    selected?.has(job.id) ? 'selected' : '',
    steady?.gone.has(job.id) ? 'gone' : '',
    before === undefined ? '' : shownError(before) === null ? 'one-line' : 'two-lines',
  ].join(' ');
}

export function JobTable({
  jobs,
  columns = DEFAULT_COLUMNS,
  sort,
  selected,
  onSelect,
  onSelectPage,
  steady,
}: JobTableProps) {
  const whole = jobs.length > 0 && jobs.every((job) => selected?.has(job.id));
  return (
    <TableBox>
      <table
        class={`jobs ${columns === DEFAULT_COLUMNS ? '' : 'chosen'} ${sort === undefined ? '' : 'sortable'}`}
      >
        <thead>
          <tr data-label={sort === undefined ? undefined : JOBS.sortBy}>
            {selected === undefined ? null : (
              <th class="box">
                <input
                  type="checkbox"
                  aria-label={JOBS.selectPage}
                  checked={whole}
                  onChange={() => onSelectPage?.(!whole)}
                />
              </th>
            )}
            {columns.map((name) => (
              <Head key={name} name={name} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr
              key={job.id}
              data-row={job.id}
              class={lookOf(job, selected, steady)}
              title={steady?.gone.has(job.id) ? SHARED.gone : undefined}
            >
              {selected === undefined ? null : (
                <td class="box">
                  <input
                    type="checkbox"
                    aria-label={JOBS.selectJob(job.id)}
                    checked={selected.has(job.id)}
                    onChange={() => onSelect?.(job.id)}
                  />
                </td>
              )}
              {columns.map((name) => (
                <td key={name} class={COLUMNS[name]!.class} data-label={COLUMNS[name]!.title}>
                  {COLUMNS[name]!.cell(job)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  );
}

function Head({ name, sort }: { name: string; sort: string | null | undefined }) {
  const { title, class: look = '' } = COLUMNS[name]!;
  const place = look.startsWith('right') ? 'right' : undefined;
  if (sort === undefined) return <th class={place}>{title}</th>;
  const way = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined;
  // A click sorts ascending, then descending, then not at all.
  const next = way === undefined ? name : way === 'ascending' ? `-${name}` : null;
  return (
    <th class={place} aria-sort={way}>
      <a href={withQuery({ sort: next })}>{title}</a>
    </th>
  );
}
