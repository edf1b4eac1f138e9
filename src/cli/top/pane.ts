import type { Snapshot } from '../../actions/top.ts';
import { formatCount } from '../../core/numbers.ts';
import { align, GAP } from '../table.ts';
import type { Line } from './line.ts';
import { PANES, type PaneName } from './panes.ts';
import { chosenIndex, rowsOf, type Ui } from './ui.ts';

interface View {
  snapshot: Snapshot;
  ui: Ui;
  now: number;
}

/** The chosen row has a mark before it. */
const MARK = 2;

/**
 * How many rows each pane gets, beside its heading: one after the other they take one more as long as they have something
 * to show; the one in focus takes two. Where not even a row each fits, the one in focus has it all.
 */
export function shareRows(
  snapshot: Snapshot,
  ui: Ui,
  names: readonly PaneName[],
  room: number,
): Map<PaneName, number> {
  if (room < names.length * 2) {
    const alone = names.includes(ui.focus) ? ui.focus : names[0]!;
    return new Map([[alone, Math.max(0, room - 1)]]);
  }
  const wanted = new Map(
    names.map((name) => [name, Math.max(1, rowsOf(snapshot, name, ui.filter).length)] as const),
  );
  const shares = new Map(names.map((name) => [name, 0]));
  let left = room - names.length;
  for (let before = -1; left > 0 && left !== before; ) {
    before = left;
    for (const name of names) {
      const more = Math.min(name === ui.focus ? 2 : 1, wanted.get(name)! - shares.get(name)!, left);
      shares.set(name, shares.get(name)! + more);
      left -= more;
    }
  }
  return shares;
}

/** A heading and so many rows of a pane, the chosen one among them. Undefined: the pane is not shown. */
export function paneLines(view: View, name: PaneName, width: number, share: number | undefined): Line[] {
  if (share === undefined) return [];
  const { snapshot, ui, now } = view;
  const pane = PANES[name];
  const rows = rowsOf(snapshot, name, ui.filter);
  const count = ui.filter === '' ? pane.total(snapshot) : rows.length;
  const focused = ui.focus === name;
  const columns = pane.columns(now, `${name.toUpperCase()} ${formatCount(count)}`, rows, snapshot);
  const table = align(columns, rows, width - MARK);
  const heading: Line = [
    { text: `${focused ? '▾' : ' '} ${table.titles.join(GAP)}`, color: focused ? 'bold' : 'dim' },
  ];
  if (rows.length === 0) return share === 0 ? [heading] : [heading, [empty(snapshot, name, ui.filter)]];
  const chosen = chosenIndex(ui, name, rows);
  // The chosen row stays in sight, with the one before it where there is room.
  const from = Math.max(0, Math.min(chosen - Math.floor(share / 2), rows.length - share));
  const lines = table.rows.slice(from, from + share).map((cells, i): Line => {
    const marked = focused && from + i === chosen;
    if (marked) return [{ text: `> ${cells.map(({ text }) => text).join(GAP)}`, color: 'reverse' }];
    return [
      { text: ' '.repeat(MARK) },
      ...cells.flatMap((cell, at) => (at === 0 ? [cell] : [{ text: GAP }, cell])),
    ];
  });
  return [heading, ...lines];
}

function empty(
  { jobs }: Snapshot,
  name: PaneName,
  filter: string,
): { text: string; color: 'dim' | 'yellow' } {
  if (filter !== '') return { text: '  (no match)', color: 'dim' };
  if (name === 'workers' && jobs.pending + jobs.failed > 0)
    return { text: '  no worker is running; to start one: queuectl worker start', color: 'yellow' };
  return { text: '  (none)', color: 'dim' };
}
