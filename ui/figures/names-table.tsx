import { part } from '../frame/api.ts';
import { duration, number, visible } from '../parts/format.ts';
import { ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import { NumberCell, right, Table } from '../parts/table-box.tsx';
import type { NamedFigures } from '../types.ts';
import { NAMES } from '../words/metrics.ts';
import { SHARED } from '../words/shared.ts';
import { endedAttempts, failedAttempts } from './series.ts';

const MOST = 15;

interface NamesProps {
  title: string;
  names: NamedFigures[];
  /** The order of the names. */
  by: 'busiest' | 'slowest';
}

const keyOf = ({ queue, name }: NamedFigures): string => `${queue}\n${name}`;

/** Lists the figures of jobs by name, under a heading. */
export function NamesTable({ title, names, by }: NamesProps) {
  const shown =
    by === 'busiest'
      ? names
      : names.filter(({ run_ms }) => run_ms !== null).toSorted((a, b) => b.run_ms!.p95 - a.run_ms!.p95);
  const list = useSteady(`names ${by}`, shown.slice(0, MOST), keyOf, { list: by });
  return (
    <div {...list.box}>
      <div class="line heading">
        <h2>{title}</h2>
        <ShowNew of={list} noun="name" />
      </div>
      {shown.length === 0 ? (
        <p class="faint quiet">{NAMES.none}</p>
      ) : (
        <Rows rows={list.rows} more={shown.length - MOST} />
      )}
    </div>
  );
}

function Rows({ rows, more }: { rows: NamedFigures[]; more: number }) {
  return (
    <Table
      heads={[
        SHARED.name,
        SHARED.queue,
        right(SHARED.attempts),
        right(SHARED.failed),
        right(NAMES.waitP95),
        right(NAMES.runP50),
        right(NAMES.runP95),
        right(NAMES.runP99),
      ]}
      after={more > 0 ? <p class="faint more">{SHARED.more(number(more))}</p> : null}
    >
      {rows.map((one) => (
        <tr key={keyOf(one)} data-row={keyOf(one)}>
          <td>
            {one.name === null ? (
              <span class="faint">{SHARED.unnamed}</span>
            ) : (
              <a href={`/jobs?name=${part(one.name)}&queue=${part(one.queue)}`}>{visible(one.name)}</a>
            )}
          </td>
          <td data-label={SHARED.queue}>
            <a href={`/queues/${part(one.queue)}`}>{visible(one.queue)}</a>
          </td>
          <NumberCell label={SHARED.attempts}>{number(endedAttempts(one))}</NumberCell>
          <NumberCell label={SHARED.failed}>
            {failedAttempts(one) === 0 ? <span class="faint">0</span> : number(failedAttempts(one))}
          </NumberCell>
          <NumberCell label={NAMES.waitP95}>{duration(one.wait_ms?.p95)}</NumberCell>
          <NumberCell label={NAMES.runP50}>{duration(one.run_ms?.p50)}</NumberCell>
          <NumberCell label={NAMES.runP95}>{duration(one.run_ms?.p95)}</NumberCell>
          <NumberCell label={NAMES.runP99}>{duration(one.run_ms?.p99)}</NumberCell>
        </tr>
      ))}
    </Table>
  );
}
