import { useSignal } from '@preact/signals';
import { Time } from '../parts/time.tsx';
import { CHARTS } from '../words/charts.ts';
import { type Line, SHOW, type Unit } from './chart.tsx';

/** Shows the figures of a chart as a table, newest first. The rows are rendered only while it is open. */
export function ChartTable({
  title,
  at,
  lines,
  unit,
}: {
  title: string;
  at: number[];
  lines: Line[];
  unit: Unit;
}) {
  const open = useSignal(false);
  const rows = at.map((_, i) => i).toReversed();
  return (
    <details
      class="figures"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>
        {CHARTS.asTable}
        <span class="hidden">: {title}</span>
      </summary>
      {open.value ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it has to be reached by keys
        <div class="table" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>{CHARTS.time}</th>
                {lines.map(({ label }) => (
                  <th key={label} class="right">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((i) => (
                <tr key={at[i]}>
                  <td>
                    <Time at={new Date(at[i]! * 1000).toISOString()} />
                  </td>
                  {lines.map(({ label, values }) => (
                    <td key={label} class="right number">
                      {values[i] === null ? '–' : SHOW[unit](values[i]!)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </details>
  );
}
