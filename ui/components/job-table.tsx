import { COLUMNS, DEFAULT_COLUMNS } from '../columns.tsx';
import { withQuery } from '../router.ts';
import type { Job } from '../types.ts';
import { JOBS } from '../words/jobs.ts';

interface JobTableProps {
  jobs: Job[];
  columns?: string[];
  /** The column to sort by, with `-` before it for descending order. Undefined turns sorting off. */
  sort?: string | null;
  /** The selected ids. Undefined turns selection off. */
  selected?: ReadonlySet<string>;
  onSelect?(id: string): void;
  onSelectPage?(all: boolean): void;
}

export function JobTable({
  jobs,
  columns = DEFAULT_COLUMNS,
  sort,
  selected,
  onSelect,
  onSelectPage,
}: JobTableProps) {
  const whole = jobs.length > 0 && jobs.every((job) => selected?.has(job.id));
  return (
    <div class="table">
      <table class={columns === DEFAULT_COLUMNS ? 'jobs' : 'jobs chosen'}>
        <thead>
          <tr>
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
            <tr key={job.id} data-row={job.id} class={selected?.has(job.id) ? 'selected' : undefined}>
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
    </div>
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
