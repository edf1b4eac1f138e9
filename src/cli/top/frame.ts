import type { Snapshot } from '../../actions/top.ts';
import { STATES, type State } from '../../core/jobs/job.ts';
import { formatCount } from '../../core/text/numbers.ts';
import { wrap } from '../help/help-page.ts';
import { align, GAP } from '../print/table.ts';
import { displayWidth, printable, STATE_COLORS } from '../print/text.ts';
import { fitLine, type Line, type Look, type Part, paintLine } from './line.ts';
import { type Output, outputLines, outputStatus } from './output.ts';
import { PANE_NAMES, PANES, type PaneName } from './panes.ts';
import { rateNow, rates, sparkline, type Throughput } from './throughput.ts';
import { chosenIndex, rowsOf, type Ui } from './ui.ts';

export interface Picture {
  snapshot: Snapshot | null;
  throughput: Throughput;
  ui: Ui;
  output: Output | null;
  now: number;
  location: string;
  /** The reason why the snapshot could not be updated, or null. */
  problem: string | null;
}

interface Size {
  width: number;
  height: number;
}

/** A screen of at least this width has two columns of panes. */
const TWO_COLUMNS = 120;
/** A screen of at least this height shows completed and failed jobs in two lines instead of one. */
const TWO_LINE_HEIGHT = 20;
/** A sparkline covers at least this many seconds. */
const SPARKLINE_S = 300;

/** Draws the whole screen. Returns its lines, each as wide as the screen. */
export function drawScreen(picture: Picture, { width, height }: Size, look: Look): string[] {
  const { ui, output } = picture;
  const { mode } = ui;
  const body = Math.max(0, height - 1);
  let lines: Line[];
  if (mode.kind === 'output' && output !== null) lines = outputLines(output, mode.top, width, body);
  else if (mode.kind === 'help')
    lines = helpLines(width)
      .slice(mode.top)
      .map((text) => [{ text }]);
  else lines = overview(picture, { width, height: body }, look);
  lines = lines.slice(0, body);
  while (lines.length < body) lines.push([]);
  lines.push(statusLine(picture, { width, height }));
  return lines.map((line) => paintLine(fitLine(line, width), look));
}

function overview(picture: Picture, size: Size, look: Look): Line[] {
  const { snapshot, ui } = picture;
  const top = [titleLine(picture, size.width)];
  if (snapshot === null) return top;
  top.push(totalsLine(snapshot, size.width), ...throughputLines(picture, size, look));
  const room = size.height - top.length;
  const draw = (names: readonly PaneName[], width: number): Line[] => {
    const shares = shareRows(snapshot, ui, names, room);
    const panes = names.map((name) => paneLines(snapshot, picture, name, width, shares.get(name)));
    // Empty lines separate the panes if there is room for them.
    const airy = panes.reduce((sum, lines) => sum + lines.length + 1, 0) <= room;
    return panes.flatMap((lines) => (airy ? [[], ...lines] : lines));
  };
  if (size.width < TWO_COLUMNS || room < PANE_NAMES.length) return [...top, ...draw(PANE_NAMES, size.width)];
  const leftWidth = Math.min(72, Math.floor(size.width * 0.4));
  const left = draw(['queues', 'workers'], leftWidth);
  const right = draw(['running', 'waiting', 'failures'], size.width - leftWidth - 3);
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, i) => [
    ...fitLine(left[i] ?? [], leftWidth),
    { text: ' │ ', color: 'dim' as const },
    ...(right[i] ?? []),
  ]);
  return [...top, ...rows];
}

function titleLine({ location, problem, now }: Picture, width: number): Line {
  const clock = new Date(now).toTimeString().slice(0, 8);
  const name = 'queuectl top  ';
  const room = Math.max(0, width - name.length - clock.length - 2);
  const status = problem === null ? location : `retrying: ${problem}`;
  const text = fitLine([{ text: printable(status), color: problem === null ? 'dim' : 'red' }], room);
  return [{ text: name, color: 'bold' }, ...text, { text: `  ${clock}` }];
}

/** Returns the count of every state, or only of states with jobs if the line would be too long. */
function totalsLine({ jobs }: Snapshot, width: number): Line {
  const parts = (states: readonly State[], gap: string): Line =>
    states.flatMap((state, i) => [
      { text: i === 0 ? '' : gap },
      { text: `${state} ${formatCount(jobs[state])}`, color: STATE_COLORS[state] },
    ]);
  const long = parts(STATES, '   ');
  if (long.reduce((sum, { text }) => sum + displayWidth(text), 0) <= width) return long;
  const nonZero = STATES.filter((state) => jobs[state] > 0);
  return parts(nonZero, '  ');
}

function throughputLines({ throughput, now }: Picture, { width, height }: Size, { ascii }: Look): Line[] {
  const rateLine = (kind: 'completed' | 'failed', room: number): Line => {
    const label = `${kind}/s `.padEnd(12);
    const rate = rateNow(throughput, kind, now);
    const rateText = rate === 0 ? '0' : rate.toFixed(1);
    const columns = Math.min(SPARKLINE_S, room - label.length - 10);
    // On a narrow screen the numbers are shown without the course.
    if (columns < 1) return [{ text: `${kind}/s ` }, { text: rateText, color: 'bold' }];
    const values = rates(throughput, kind, now, columns, Math.ceil(SPARKLINE_S / columns));
    return [
      { text: label },
      { text: sparkline(values, ascii), color: kind === 'completed' ? 'green' : 'red' },
      { text: rateText.padStart(8), color: 'bold' },
      { text: '  ' },
    ];
  };
  if (height < TWO_LINE_HEIGHT) {
    const half = Math.floor(width / 2);
    return [[...fitLine(rateLine('completed', half), half), ...rateLine('failed', width - half)]];
  }
  return [rateLine('completed', width), rateLine('failed', width)];
}

/** A narrow screen shows only the first keys, so the most important ones come first. */
const KEYS = 'q quit|? help|Tab next|l output|c cancel|r retry|p pause|h hold|/ filter|↑↓ move'.split('|');
const OUTPUT_KEYS = ['q back', 'f follow', '↑↓ scroll', 'g top', 'G end'];

/** Draws the last line. Depending on the mode, it shows a question, the typed filter, a message or the keys. */
function statusLine({ ui, output }: Picture, { width, height }: Size): Line {
  const { mode, message, filter } = ui;
  if (mode.kind === 'confirm') return [{ text: `${printable(mode.question)} y/n `, color: 'yellow' }];
  if (mode.kind === 'filter') return [{ text: `/${printable(filter)}_`, color: 'bold' }];
  if (mode.kind === 'help') {
    const scrolls = helpLines(width).length > height - 1;
    return [{ text: scrolls ? '↑↓ scroll  any other key: back' : 'press any key to go back', color: 'dim' }];
  }
  if (message !== '') return [{ text: printable(message), color: 'bold' }];
  if (mode.kind === 'output' && output !== null) {
    const where = `${printable(outputStatus(output, mode.top))}  `;
    return [{ text: where, color: 'bold' }, keysThatFit(OUTPUT_KEYS, width - displayWidth(where))];
  }
  const filterText = filter === '' ? '' : `filter: ${printable(filter)} (Esc clears it)  `;
  return [{ text: filterText, color: 'yellow' }, keysThatFit(KEYS, width - displayWidth(filterText))];
}

function keysThatFit(all: string[], room: number): { text: string; color: 'dim' } {
  let text = '';
  for (const key of all) {
    const longer = text === '' ? key : `${text}  ${key}`;
    if (displayWidth(longer) > room) break;
    text = longer;
  }
  return { text, color: 'dim' };
}

/** The width of the mark in front of the chosen row. */
const MARK_WIDTH = 2;

/**
 * Divides the rows of the screen among the panes, not counting their headings. The panes take turns until all rows are
 * used or no pane needs more. The one in focus takes two rows each turn. If there is not even one row for each, the pane
 * in focus, or else the first one, gets all of them.
 */
function shareRows(
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
function paneLines(
  snapshot: Snapshot,
  { ui, now }: Picture,
  name: PaneName,
  width: number,
  share: number | undefined,
): Line[] {
  if (share === undefined) return [];
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

const HELP_KEYS: [keys: string, effect: string][] = [
  ['Tab, right / Shift-Tab, left', 'next list, previous list'],
  ['down, j / up, k', 'next row, previous row (also PgDn, PgUp, g, G)'],
  ['Enter, l', 'show the output of the job (f: follow, q: back)'],
  ['c', 'cancel the job (asks first)'],
  ['r', 'retry a failed, dead or cancelled job now'],
  ['h', 'hold a waiting job, or release a held one'],
  ['p', 'pause or resume the queue of the selected row'],
  ['/', 'filter the rows by text (Esc: clear the filter)'],
  ['?', 'show this help'],
  ['Ctrl-L', 'redraw the screen'],
  ['Ctrl-Z', 'suspend; fg continues'],
  ['q, Ctrl-C', 'quit; running jobs are not affected'],
];
const NOTE = 'The lists of waiting and failed jobs show the newest 100.';

const EFFECT_COLUMN = 33;
/** A screen of at least this width has the keys and what they do on one line. */
const WIDE = EFFECT_COLUMN + Math.max(...HELP_KEYS.map(([, effect]) => effect.length));

/** Returns the help for a screen of this width. On a narrow one, the effects of the keys are below them, in short lines. */
export function helpLines(width: number): string[] {
  const isWide = width >= WIDE;
  const lines = HELP_KEYS.flatMap(([keys, effect]) =>
    isWide
      ? `  ${keys}`.padEnd(EFFECT_COLUMN) + effect
      : [keys, ...wrap(effect, width - 2).map((line) => `  ${line}`)],
  );
  return ['queuectl top: keys', '', ...lines, '', ...wrap(NOTE, width)];
}
