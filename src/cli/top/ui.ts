import type { Snapshot } from '../../actions/top.ts';
import { FINAL_STATES } from '../../core/jobs/job.ts';
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

/** The data that keys act on. */
export interface Scene {
  snapshot: Snapshot | null;
  /** The number of the first line of the output, and the number after its last line. */
  lines: { first: number; end: number };
  /** The number of lines of the help. */
  helpLines: number;
  page: number;
}

export interface Pressed {
  ui: Ui;
  effect: Effect | null;
}

const PANES_MODE: Mode = { kind: 'panes' };

/** Handles a key. Returns the new state of the screen, and the effect of the key on anything else, or null. */
export function press(ui: Ui, key: string, scene: Scene): Pressed {
  if (key === 'ctrl-c') return { ui, effect: { do: 'quit' } };
  if (key === 'ctrl-z') return { ui, effect: { do: 'suspend' } };
  if (key === 'ctrl-l') return { ui, effect: { do: 'redraw' } };
  const cleared = { ...ui, message: '' };
  switch (ui.mode.kind) {
    case 'panes':
      return inPanes(cleared, key, scene);
    case 'help':
      return uiOnly({ ...cleared, mode: inHelp(ui.mode.top, key, scene) });
    case 'filter':
      return uiOnly(inFilter(cleared, key, ui.mode.before));
    case 'confirm': {
      const done = { ...cleared, mode: PANES_MODE };
      return key === 'y' || key === 'Y'
        ? { ui: done, effect: ui.mode.effect }
        : uiOnly({ ...done, message: 'no changes made' });
    }
    case 'output':
      return inOutput(cleared, ui.mode, key, scene);
  }
}

/** Scrolls the help if it is longer than the screen. Any other key goes back. */
function inHelp(top: number, key: string, { helpLines, page }: Scene): Mode {
  const last = Math.max(0, helpLines - page);
  const to = last === 0 ? null : movedPosition(key, top, last, page);
  return to === null ? PANES_MODE : { kind: 'help', top: Math.max(0, Math.min(to, last)) };
}

function uiOnly(ui: Ui): Pressed {
  return { ui, effect: null };
}

function inPanes(ui: Ui, key: string, scene: Scene): Pressed {
  switch (key) {
    case 'q':
      return { ui, effect: { do: 'quit' } };
    case '?':
      return uiOnly({ ...ui, mode: { kind: 'help', top: 0 } });
    case '/':
      return uiOnly({ ...ui, mode: { kind: 'filter', before: ui.filter } });
    case 'escape':
      return uiOnly({ ...ui, filter: '' });
    case 'tab':
    case 'right':
      return uiOnly(nextPane(ui, 1));
    case 'shift-tab':
    case 'left':
      return uiOnly(nextPane(ui, -1));
  }
  if (scene.snapshot === null) return uiOnly(ui);
  const rows = rowsOf(scene.snapshot, ui.focus, ui.filter);
  const index = chosenIndex(ui, ui.focus, rows);
  const to = movedPosition(key, index, rows.length - 1, scene.page);
  if (to !== null) return uiOnly(chooseRow(ui, rows, to));
  // The row is chosen explicitly, so that the next key acts on it even if the list has changed.
  return actOnRow(chooseRow(ui, rows, index), key, rows[index], scene.snapshot);
}

function nextPane(ui: Ui, step: number): Ui {
  const at = PANE_NAMES.indexOf(ui.focus) + step + PANE_NAMES.length;
  return { ...ui, focus: PANE_NAMES[at % PANE_NAMES.length]! };
}

function chooseRow(ui: Ui, rows: unknown[], index: number): Ui {
  if (rows.length === 0) return ui;
  const at = Math.max(0, Math.min(index, rows.length - 1));
  const key = PANES[ui.focus].key(rows[at]);
  return { ...ui, chosen: { ...ui.chosen, [ui.focus]: { key, index: at } } };
}

const MOVES: Record<string, (at: number, last: number, page: number) => number> = {
  up: (at) => at - 1,
  down: (at) => at + 1,
  'page-up': (at, _, page) => at - page,
  'page-down': (at, _, page) => at + page,
  home: () => 0,
  end: (_, last) => last,
};
const SYNONYMS: Record<string, string> = { k: 'up', j: 'down', ' ': 'page-down', g: 'home', G: 'end' };

/** Returns the position that a key moves to, or null if the key does not move. */
function movedPosition(key: string, at: number, last: number, page: number): number | null {
  return MOVES[SYNONYMS[key] ?? key]?.(at, last, page) ?? null;
}

function actOnRow(ui: Ui, key: string, row: unknown, snapshot: Snapshot): Pressed {
  const { job, queue } = row === undefined ? { job: null, queue: null } : PANES[ui.focus].target(row);
  if (key === 'p') {
    if (queue === null) return uiOnly({ ...ui, message: 'select a queue or a job first' });
    const paused = snapshot.queues.find(({ name }) => name === queue)?.paused ?? false;
    return { ui, effect: { do: paused ? 'resume' : 'pause', queue } };
  }
  if (!['enter', 'l', 'c', 'r', 'h'].includes(key)) return uiOnly(ui);
  if (job === null) return uiOnly({ ...ui, message: 'select a job first; Tab moves between the lists' });
  const { id } = job;
  switch (key) {
    case 'c':
      if (FINAL_STATES.includes(job.state))
        return uiOnly({ ...ui, message: `job ${id} is already ${job.state}` });
      return uiOnly({
        ...ui,
        mode: { kind: 'confirm', question: `cancel job ${id}?`, effect: { do: 'cancel', id } },
      });
    case 'r':
      return { ui, effect: { do: 'retry', id } };
    case 'h':
      return { ui, effect: { do: job.held ? 'release' : 'hold', id } };
    default:
      return { ui: { ...ui, mode: { kind: 'output', id, top: null } }, effect: { do: 'follow', id } };
  }
}

function inFilter(ui: Ui, key: string, before: string): Ui {
  switch (key) {
    case 'enter':
      return { ...ui, mode: PANES_MODE };
    case 'escape':
      return { ...ui, mode: PANES_MODE, filter: before };
    case 'backspace':
      return { ...ui, filter: [...ui.filter].slice(0, -1).join('') };
    case 'ctrl-u':
      return { ...ui, filter: '' };
    default:
      // The names of special keys are longer than a character.
      return [...key].length === 1 ? { ...ui, filter: ui.filter + key } : ui;
  }
}

function inOutput(ui: Ui, mode: Mode & { kind: 'output' }, key: string, { lines, page }: Scene): Pressed {
  if (['q', 'escape', 'left', 'enter', 'l'].includes(key))
    return { ui: { ...ui, mode: PANES_MODE }, effect: { do: 'unfollow' } };
  if (key === 'f' || key === 'G' || key === 'end') return uiOnly({ ...ui, mode: { ...mode, top: null } });
  const last = Math.max(lines.first, lines.end - page);
  const to = movedPosition(key, mode.top ?? last, last, page);
  if (to === null) return uiOnly(ui);
  // Scrolling to the end does not start following. Only f, G and End do.
  return uiOnly({ ...ui, mode: { ...mode, top: Math.max(lines.first, Math.min(to, last)) } });
}
