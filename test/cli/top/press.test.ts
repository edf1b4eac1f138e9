import { expect, test } from 'bun:test';
import { keyReader, readKeys } from '../../../src/cli/top/keys.ts';
import { press } from '../../../src/cli/top/press.ts';
import { chosenIndex, rowsOf, startUi, type Ui } from '../../../src/cli/top/ui.ts';
import { jobOf, snapshotOf } from './snapshot.ts';

const running = ['a', 'b', 'c'].map((id) => jobOf(id, { state: 'processing' }));
const waiting = [jobOf('w', { held: true })];
const snapshot = snapshotOf({ running, waiting });
const scene = { snapshot, lines: { first: 10, end: 110 }, page: 20 };

function typed(keys: string[], from: Ui = startUi()) {
  let [ui, effects]: [Ui, unknown[]] = [from, []];
  for (const key of keys) {
    const pressed = press(ui, key, scene);
    ui = pressed.ui;
    if (pressed.effect !== null) effects = [...effects, pressed.effect];
  }
  return { ui, effects };
}

test('keys of a terminal have names, and unknown ones are ignored', () => {
  expect(readKeys('jä\x1b[A\x1bOB\x1b[Z\t\r\x7f\x03\x1b[5~')).toEqual([
    ...['j', 'ä', 'up', 'down', 'shift-tab', 'tab', 'enter', 'backspace', 'ctrl-c', 'page-up'],
  ]);
  expect(readKeys('\x1b')).toEqual(['escape']);
  expect(readKeys('\x1b[200~\x01\x1b[1;5C')).toEqual([]);
});

test('a sequence that arrives in parts is one key, and so is an escape alone', async () => {
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

test('the selected row stays selected where it moves, and its position is kept when it is gone', () => {
  const { ui } = typed(['down']);
  expect(ui.chosen.running.key).toBe('b');
  expect(chosenIndex(ui, 'running', rowsOf(snapshot, 'running', ''))).toBe(1);
  expect(chosenIndex(ui, 'running', [...running].reverse().slice(0, 2))).toBe(1);
  expect(chosenIndex(ui, 'running', [running[0], running[2]])).toBe(1);
  expect(chosenIndex(ui, 'running', [running[0]])).toBe(0);
  expect(chosenIndex(ui, 'running', [])).toBe(0);
});

test('moving stops at the edges, and panes wrap around', () => {
  expect(typed(['up']).ui.chosen.running.key).toBe('a');
  expect(typed(['G', 'j', 'j']).ui.chosen.running.key).toBe('c');
  expect(typed(['G', 'g']).ui.chosen.running.key).toBe('a');
  expect(typed(['page-down', 'k']).ui.chosen.running.key).toBe('b');
  expect(typed(['tab', 'tab', 'tab', 'tab', 'tab']).ui.focus).toBe('running');
  expect(typed(['shift-tab', 'left']).ui.focus).toBe('workers');
});

test('cancelling asks first, and only y confirms', () => {
  expect(typed(['c']).effects).toEqual([]);
  expect(typed(['c', 'y']).effects).toEqual([{ do: 'cancel', id: 'a' }]);
  for (const key of ['n', 'enter', 'escape', 'c', 'q']) expect(typed(['c', key]).effects).toEqual([]);
  // The answer applies to the job in the question, not to the row that is selected later.
  const asked = typed(['j', 'c']).ui;
  const later = { ...scene, snapshot: snapshotOf({ running: [...running].reverse() }) };
  expect(press(asked, 'y', later).effect).toEqual({ do: 'cancel', id: 'b' });
});

test('an ended job cannot be cancelled, so there is no question', () => {
  const over = { ...scene, snapshot: snapshotOf({ running: [jobOf('d', { state: 'dead' })] }) };
  const { ui, effect } = press(startUi(), 'c', over);
  expect({ kind: ui.mode.kind, message: ui.message, effect }).toEqual({
    ...{ kind: 'panes', message: 'job d is already dead', effect: null },
  });
});

test('other keys act at once on the selected row', () => {
  expect(typed(['down', 'r']).effects).toEqual([{ do: 'retry', id: 'b' }]);
  expect(typed(['h']).effects).toEqual([{ do: 'hold', id: 'a' }]);
  expect(typed(['tab', 'h']).effects).toEqual([{ do: 'release', id: 'w' }]);
  expect(typed(['p']).effects).toEqual([{ do: 'pause', queue: 'default' }]);
  expect(typed(['left', 'r']).ui.message).toContain('select a job');
  expect(typed(['left', 'left', 'p']).ui.message).toContain('select a queue');
  expect(typed(['q']).effects).toEqual([{ do: 'quit' }]);
});

test('output can be scrolled and followed, and q leaves the output but not the program', () => {
  const opened = typed(['enter']);
  expect(opened.effects).toEqual([{ do: 'follow', id: 'a' }]);
  const top = (...keys: string[]) => {
    const { mode } = typed(keys, opened.ui).ui;
    return mode.kind === 'output' ? mode.top : mode.kind;
  };
  expect(top()).toBeNull();
  expect(top('up')).toBe(89);
  expect(top('up', 'down', 'down')).toBe(90);
  expect(top('g')).toBe(10);
  expect(top('g', 'page-down')).toBe(30);
  expect(top('g', 'f')).toBeNull();
  expect(top('q')).toBe('panes');
  expect(typed(['q'], opened.ui).effects).toEqual([{ do: 'unfollow' }]);
});

test('a filter is typed as text, and Escape restores the previous one', () => {
  const { ui } = typed(['/', 'q', 'ä', 'x', 'backspace', 'enter']);
  expect(ui).toMatchObject({ filter: 'qä', mode: { kind: 'panes' } });
  expect(typed(['/', 'z', 'escape'], ui).ui.filter).toBe('qä');
  expect(typed(['escape'], ui).ui.filter).toBe('');
});
