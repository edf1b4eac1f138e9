import type { Snapshot } from '../../actions/top.ts';
import { PANE_NAMES, PANES, type PaneName } from './panes.ts';

/** What is done outside the picture. */
export type Effect =
  | { do: 'quit' | 'suspend' | 'unfollow' | 'redraw' }
  | { do: 'follow'; id: string }
  | { do: 'cancel' | 'retry' | 'hold' | 'release'; id: string }
  | { do: 'pause' | 'resume'; queue: string };

export type Mode =
  | { kind: 'panes' }
  | { kind: 'help' }
  /** A text is being typed; `before` comes back with Escape. */
  | { kind: 'filter'; before: string }
  | { kind: 'confirm'; question: string; effect: Effect }
  /** `top` is the number of the first line shown; null: the end is followed. */
  | { kind: 'output'; id: string; top: number | null };

/** Where a person is in the picture. */
export interface Ui {
  mode: Mode;
  focus: PaneName;
  /** The row chosen in each pane; by its key, so that it stays chosen wherever it moves. */
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

/** The rows of a pane that the filter lets through. */
export function rowsOf(snapshot: Snapshot, name: PaneName, filter: string): unknown[] {
  const pane = PANES[name];
  const rows = pane.rows(snapshot);
  if (filter === '') return rows;
  const wanted = filter.toLowerCase();
  return rows.filter((row) => pane.words(row).join('\n').toLowerCase().includes(wanted));
}

/** The chosen row; when it is gone, whatever stands in its place. */
export function chosenIndex(ui: Ui, name: PaneName, rows: unknown[]): number {
  const { key, index } = ui.chosen[name];
  const at = rows.findIndex((row) => PANES[name].key(row) === key);
  return at === -1 ? Math.max(0, Math.min(index, rows.length - 1)) : at;
}
