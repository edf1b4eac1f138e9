import { part } from '../api.ts';
import { duration, number, visible } from '../format.ts';
import { bad, ended } from '../series.ts';
import type { Named } from '../types.ts';

const MOST = 15;

interface NamesProps {
  names: Named[];
  /** Which come first. */
  by: 'busiest' | 'slowest';
}

/** What the work is made of: jobs by name. */
export function NamesTable({ names, by }: NamesProps) {
  const shown =
    by === 'busiest'
      ? names
      : names.filter(({ run_ms }) => run_ms !== null).toSorted((a, b) => b.run_ms!.p95 - a.run_ms!.p95);
  if (shown.length === 0) return <p class="faint quiet">Nothing ended in this time.</p>;
  return (
    <div class="table">
      <table class="stack">
        <thead>
          <tr>
            <th>Name</th>
            <th>Queue</th>
            <th class="right">Ended</th>
            <th class="right">Failed</th>
            <th class="right">Wait p95</th>
            <th class="right">Run p50</th>
            <th class="right">Run p95</th>
            <th class="right">Run p99</th>
          </tr>
        </thead>
        <tbody>
          {shown.slice(0, MOST).map((one) => (
            <tr key={`${one.queue}\n${one.name}`}>
              <td>
                {one.name === null ? (
                  <span class="faint">no name</span>
                ) : (
                  <a href={`/jobs?name=${part(one.name)}&queue=${part(one.queue)}`}>{visible(one.name)}</a>
                )}
              </td>
              <td data-label="queue">
                <a href={`/queues/${part(one.queue)}`}>{visible(one.queue)}</a>
              </td>
              <td class="right number" data-label="ended">
                {number(ended(one))}
              </td>
              <td class="right number" data-label="failed">
                {bad(one) === 0 ? <span class="faint">0</span> : number(bad(one))}
              </td>
              <td class="right number" data-label="wait p95">
                {duration(one.wait_ms?.p95)}
              </td>
              <td class="right number" data-label="run p50">
                {duration(one.run_ms?.p50)}
              </td>
              <td class="right number" data-label="run p95">
                {duration(one.run_ms?.p95)}
              </td>
              <td class="right number" data-label="run p99">
                {duration(one.run_ms?.p99)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length > MOST ? <p class="faint more">and {number(shown.length - MOST)} more</p> : null}
    </div>
  );
}
