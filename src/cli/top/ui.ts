import type { Snapshot } from '../../actions/top.ts';
import { PANE_NAMES, PANES, type PaneName } from './panes.ts';

/** What a key does besides changing the state of the screen. */
export type Effect =
  | { do: 'quit' | 'suspend' | 'unfollow' | 'redraw' }
  | { do: 'follow'; id: string }
  | { do: 'cancel' | 'retry' | 'hold' | 'release'; id: string }
  | { do: 'pause' | 'resume'; queue: string };

export type Mode =
  | { kind: 'panes' }
  /** `top` is the number of the first line shown. */
  | { kind: 'help'; top: number }
  /** The user is typing a filter. Escape restores `before`. */
  | { kind: 'filter'; before: string }
  | { kind: 'confirm'; question: string; effect: Effect }
  /** `top` is the number of the first line shown. Null means that the end is followed. */
  | { kind: 'output'; id: string; top: number | null };

/** The state of the screen that keys change. */
export interface Ui {
  mode: Mode;
  focus: PaneName;
  /** The chosen row of each pane. It is found by its `key`, so that it stays chosen when the list changes. */
  chosen: Record<PaneName, { key: string; index: number }>;
  filter: string;
  message: string;
}

export function startUi(): Ui {
  const chosen = Object.fromEntries(PANE_NAMES.map((name) => [name, { key: '', index: 0 }]));
  return {
    mode: { kind: 'panes' },
    focus: 'running',
    chosen: chosen as Ui['chosen'],
    filter: '',
    message: '',
  };
}

/** Returns the rows of a pane that match the filter. */
export function rowsOf(snapshot: Snapshot, name: PaneName, filter: string): unknown[] {
  const pane = PANES[name];
  const rows = pane.rows(snapshot);
  if (filter === '') return rows;
  const wanted = filter.toLowerCase();
  return rows.filter((row) => pane.words(row).join('\n').toLowerCase().includes(wanted));
}

/** Returns the index of the chosen row, or of the row that took its place if it is gone. */
export function chosenIndex(ui: Ui, name: PaneName, rows: unknown[]): number {
  const { key, index } = ui.chosen[name];
  const at = rows.findIndex((row) => PANES[name].key(row) === key);
  return at === -1 ? Math.max(0, Math.min(index, rows.length - 1)) : at;
}
