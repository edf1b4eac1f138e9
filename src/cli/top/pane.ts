import type { Snapshot } from '../../actions/top.ts';
import { formatCount } from '../../core/numbers.ts';
import { align, GAP } from '../table.ts';
import type { Line, Part } from './line.ts';
import { PANES, type PaneName } from './panes.ts';
import { chosenIndex, rowsOf, type Ui } from './ui.ts';

interface PaneView {
  snapshot: Snapshot;
  ui: Ui;
  now: number;
}

/** The width of the mark in front of the chosen row. */
const MARK_WIDTH = 2;

/**
 * Divides the rows of the screen among the panes, not counting their headings. The panes take turns until all rows are
 * used or no pane needs more. The one in focus takes two rows each turn. If there is not even one row for each, the pane
 * in focus, or else the first one, gets all of them.
 */
export function shareRows(
  snapshot: Snapshot,
  ui: Ui,
  names: readonly PaneName[],
  room: number,
): Map<PaneName, number> {
  if (room < names.length * 2) {
    const onlyPane = names.includes(ui.focus) ? ui.focus : names[0]!;
    return new Map([[onlyPane, Math.max(0, room - 1)]]);
  }
  const wanted = new Map(
    names.map((name) => [name, Math.max(1, rowsOf(snapshot, name, ui.filter).length)] as const),
  );
  const shares = new Map(names.map((name) => [name, 0]));
  let remaining = room - names.length;
  for (let before = -1; remaining > 0 && remaining !== before; ) {
    before = remaining;
    for (const name of names) {
      const more = Math.min(name === ui.focus ? 2 : 1, wanted.get(name)! - shares.get(name)!, remaining);
      shares.set(name, shares.get(name)! + more);
      remaining -= more;
    }
  }
  return shares;
}

/** Draws the heading of a pane and up to `share` rows around the chosen one. Draws nothing if `share` is undefined. */
export function paneLines(view: PaneView, name: PaneName, width: number, share: number | undefined): Line[] {
  if (share === undefined) return [];
  const { snapshot, ui, now } = view;
  const pane = PANES[name];
  const rows = rowsOf(snapshot, name, ui.filter);
  const count = ui.filter === '' ? pane.total(snapshot) : rows.length;
  const focused = ui.focus === name;
  const columns = pane.columns(now, `${name.toUpperCase()} ${formatCount(count)}`, rows, snapshot);
  const table = align(columns, rows, width - MARK_WIDTH);
  const heading: Line = [
    { text: `${focused ? '▾' : ' '} ${table.titles.join(GAP)}`, color: focused ? 'bold' : 'dim' },
  ];
  if (rows.length === 0) return share === 0 ? [heading] : [heading, [emptyRow(snapshot, name, ui.filter)]];
  const chosen = chosenIndex(ui, name, rows);
  // The chosen row is in the middle, except near the start and the end of the list.
  const from = Math.max(0, Math.min(chosen - Math.floor(share / 2), rows.length - share));
  const lines = table.rows.slice(from, from + share).map((cells, i): Line => {
    const marked = focused && from + i === chosen;
    if (marked) return [{ text: `> ${cells.map(({ text }) => text).join(GAP)}`, color: 'reverse' }];
    return [
      { text: ' '.repeat(MARK_WIDTH) },
      ...cells.flatMap((cell, at) => (at === 0 ? [cell] : [{ text: GAP }, cell])),
    ];
  });
  return [heading, ...lines];
}

function emptyRow({ jobs }: Snapshot, name: PaneName, filter: string): Part {
  if (filter !== '') return { text: '  (no match)', color: 'dim' };
  if (name === 'workers' && jobs.pending + jobs.failed > 0)
    return { text: '  no worker is running; to start one: queuectl worker start', color: 'yellow' };
  return { text: '  (none)', color: 'dim' };
}
