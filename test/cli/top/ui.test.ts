import { expect, test } from 'bun:test';
import { keyReader, readKeys } from '../../../src/cli/top/terminal.ts';
import { chosenIndex, press, rowsOf, startUi, type Ui } from '../../../src/cli/top/ui.ts';
import { jobOf, snapshotOf } from './snapshot.ts';

const running = ['a', 'b', 'c'].map((id) => jobOf(id, { state: 'processing' }));
const waiting = [jobOf('w', { held: true })];
const snapshot = snapshotOf({ running, waiting });
const scene = { snapshot, lines: { first: 10, end: 110 }, page: 20, helpLines: 16 };

function typeKeys(keys: string[], from: Ui = startUi()) {
  let [ui, effects]: [Ui, unknown[]] = [from, []];
  for (const key of keys) {
    const pressed = press(ui, key, scene);
    ui = pressed.ui;
    if (pressed.effect !== null) effects = [...effects, pressed.effect];
  }
  return { ui, effects };
}

test('special keys are read as names and others as characters, and unknown sequences are ignored', () => {
  expect(readKeys('jä\x1b[A\x1bOB\x1b[Z\t\r\x7f\x03\x1b[5~')).toEqual([
    ...['j', 'ä', 'up', 'down', 'shift-tab', 'tab', 'enter', 'backspace', 'ctrl-c', 'page-up'],
  ]);
  expect(readKeys('\x1b')).toEqual(['escape']);
  expect(readKeys('\x1b[200~\x01\x1b[1;5C')).toEqual([]);
});

test('a sequence or a character that arrives in parts is one key, and so is Escape alone', async () => {
  const keys: string[] = [];
  const escaped = Promise.withResolvers<void>();
  const reader = keyReader((key) => {
    keys.push(key);
    if (key === 'escape') escaped.resolve();
  });
  for (const part of ['a\x1b', '[', 'A', '\x1b[5', '~', '\x1bO', 'B']) reader.read(Buffer.from(part));
  for (const byte of Buffer.from('ä')) reader.read(Buffer.from([byte]));
  expect(keys).toEqual(['a', 'up', 'page-up', 'down', 'ä']);
  reader.read(Buffer.from('\x1b'));
  await escaped.promise;
  reader.read(Buffer.from('q'));
  expect(keys.slice(5)).toEqual(['escape', 'q']);
});

test('the selected row stays selected when it moves, and its position stays selected when it is gone', () => {
  const { ui } = typeKeys(['down']);
  expect(ui.chosen.running.key).toBe('b');
  expect(chosenIndex(ui, 'running', rowsOf(snapshot, 'running', ''))).toBe(1);
  expect(chosenIndex(ui, 'running', [running[1], running[0]])).toBe(0);
  expect(chosenIndex(ui, 'running', [running[0], running[2]])).toBe(1);
  expect(chosenIndex(ui, 'running', [running[0]])).toBe(0);
  expect(chosenIndex(ui, 'running', [])).toBe(0);
});

test('the selection stops at the first and last row, and switching panes wraps around', () => {
  expect(typeKeys(['up']).ui.chosen.running.key).toBe('a');
  expect(typeKeys(['G', 'j', 'j']).ui.chosen.running.key).toBe('c');
  expect(typeKeys(['G', 'g']).ui.chosen.running.key).toBe('a');
  expect(typeKeys(['page-down', 'k']).ui.chosen.running.key).toBe('b');
  expect(typeKeys(['tab', 'tab', 'tab', 'tab', 'tab']).ui.focus).toBe('running');
  expect(typeKeys(['shift-tab', 'left']).ui.focus).toBe('workers');
});

test('cancelling asks first, and only y or Y confirms', () => {
  expect(typeKeys(['c']).effects).toEqual([]);
  for (const key of ['y', 'Y']) expect(typeKeys(['c', key]).effects).toEqual([{ do: 'cancel', id: 'a' }]);
  for (const key of ['n', 'enter', 'escape', 'c', 'q']) expect(typeKeys(['c', key]).effects).toEqual([]);
  // The answer applies to the job in the question, not to the row that is selected later.
  const asked = typeKeys(['j', 'c']).ui;
  const later = { ...scene, snapshot: snapshotOf({ running: [...running].reverse() }) };
  expect(press(asked, 'y', later).effect).toEqual({ do: 'cancel', id: 'b' });
});

test('the cancel key asks nothing for a job that has ended', () => {
  const endedScene = { ...scene, snapshot: snapshotOf({ running: [jobOf('d', { state: 'dead' })] }) };
  const { ui, effect } = press(startUi(), 'c', endedScene);
  expect({ kind: ui.mode.kind, message: ui.message, effect }).toEqual({
    ...{ kind: 'panes', message: 'job d is already dead', effect: null },
  });
});

test('retry, hold, release and pause act on the selected row without a question, and q quits', () => {
  expect(typeKeys(['down', 'r']).effects).toEqual([{ do: 'retry', id: 'b' }]);
  expect(typeKeys(['h']).effects).toEqual([{ do: 'hold', id: 'a' }]);
  expect(typeKeys(['tab', 'h']).effects).toEqual([{ do: 'release', id: 'w' }]);
  expect(typeKeys(['p']).effects).toEqual([{ do: 'pause', queue: 'default' }]);
  expect(typeKeys(['left', 'r']).ui.message).toContain('select a job');
  expect(typeKeys(['left', 'left', 'p']).ui.message).toContain('select a queue');
  expect(typeKeys(['q']).effects).toEqual([{ do: 'quit' }]);
});

test('output can be scrolled and followed, and q leaves the output but not the program', () => {
  const opened = typeKeys(['enter']);
  expect(opened.effects).toEqual([{ do: 'follow', id: 'a' }]);
  const top = (...keys: string[]) => {
    const { mode } = typeKeys(keys, opened.ui).ui;
    return mode.kind === 'output' ? mode.top : mode.kind;
  };
  expect(top()).toBeNull();
  expect(top('up')).toBe(89);
  expect(top('up', 'down', 'down')).toBe(90);
  expect(top('g')).toBe(10);
  expect(top('g', 'page-down')).toBe(30);
  expect(top('g', 'f')).toBeNull();
  expect(top('q')).toBe('panes');
  expect(typeKeys(['q'], opened.ui).effects).toEqual([{ do: 'unfollow' }]);
});

test('a filter is typed as text; Escape restores the previous one while typing, and clears it afterwards', () => {
  const { ui } = typeKeys(['/', 'q', 'ä', 'x', 'backspace', 'enter']);
  expect(ui).toMatchObject({ filter: 'qä', mode: { kind: 'panes' } });
  expect(typeKeys(['/', 'z', 'escape'], ui).ui.filter).toBe('qä');
  expect(typeKeys(['escape'], ui).ui.filter).toBe('');
});
