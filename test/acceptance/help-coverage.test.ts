import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Command, type Flag, loadCommand } from '../../src/cli/frame/command.ts';
import { COMMANDS, isGroup } from '../../src/cli/frame/commands.ts';
import { GLOBAL_FLAGS } from '../../src/cli/frame/parse-flags.ts';
import { TOPICS } from '../../src/cli/help/help.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { SETTING_KEYS } from '../../src/core/settings/settings.ts';
import { sandbox } from '../support/queuectl.ts';

const ROOT = resolve(import.meta.dir, '../..');
const MAN_PAGE = join(ROOT, 'dist/queuectl.1');
const box = sandbox();
/** Returns the names of the flags that are not hidden. Hidden flags are for queuectl's own use. */
const visibleFlags = (flags: Record<string, Flag>) =>
  Object.keys(flags).filter((name) => !flags[name]!.hidden);
let commands: [name: string, command: Command][];

beforeAll(async () => {
  const loaders = Object.entries(COMMANDS).flatMap(([name, entry]) =>
    isGroup(entry)
      ? Object.entries(entry.commands).map(([verb, load]) => [`${name} ${verb}`, load] as const)
      : [[name, entry] as const],
  );
  commands = await Promise.all(
    loaders.map(async ([name, load]) => [name, await loadCommand(load)] as [string, Command]),
  );
});
afterAll(() => box.cleanup());

/** Returns what a command prints. It must succeed without a warning. */
async function outputOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await box.run(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

test('every command has the name of its table entry and examples that use it', () => {
  for (const [name, command] of commands) {
    expect(command.name).toBe(name);
    const examples = command.examples.filter((line) => !line.startsWith('#'));
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(example).toContain(`queuectl ${name}`);
  }
});

test('no summary ends with a full stop, and each fits on one line of the overview at 80 columns', async () => {
  const overview = await outputOf('help');
  for (const [, { summary }] of commands) {
    expect(summary).toMatch(/^[A-Z].*[^.]$/);
    expect(overview).toContain(`  ${summary}\n`);
  }
});

test('help lists every command and every flag', async () => {
  const overview = await outputOf('help');
  for (const [name, command] of commands) {
    expect(overview).toContain(`\n  ${name} `);
    expect(overview).toContain(command.summary);
    const help = await outputOf('help', ...name.split(' '));
    for (const flag of visibleFlags({ ...GLOBAL_FLAGS, ...command.flags }))
      expect(help).toMatch(new RegExp(`--${flag}\\b`));
    for (const example of command.examples) expect(help).toContain(example);
  }
});

test('completion lists every command and every flag', async () => {
  const words = (text: string) => text.split('\n').map((line) => line.split('\t')[0]);
  for (const [name, command] of commands) {
    const path = name.split(' ');
    expect(words(await outputOf('__complete', ...path.slice(0, -1), ''))).toContain(path.at(-1)!);
    const flags = visibleFlags({ ...GLOBAL_FLAGS, ...command.flags }).map((flag) => `--${flag}`);
    expect(
      words(await outputOf('__complete', ...path, '--'))
        .slice(0, -1)
        .sort(),
    ).toEqual(flags.sort());
  }
});

test('the man page describes every command, flag and topic', () => {
  const sections = readFileSync(MAN_PAGE, 'utf8').replaceAll('\\-', '-').split('\n.SS ');
  for (const [name, command] of commands) {
    const section = sections.find((text) => text.startsWith(`${name} `) || text.startsWith(`${name}\n`));
    expect({ name, found: section !== undefined }).toEqual({ name, found: true });
    for (const flag of visibleFlags(command.flags)) expect(section).toContain(`\\fB--${flag}\\fR`);
  }
  for (const flag of Object.keys(GLOBAL_FLAGS)) expect(sections.at(-1)).toContain(`\\fB--${flag}\\fR`);
  for (const topic of Object.keys(TOPICS))
    expect(sections.at(-1)).toContain(`.SH ${topic.replaceAll('-', ' ').toUpperCase()}`);
});

for (const [program, args] of [
  ['groff', ['-man', '-Tutf8', '-ww', MAN_PAGE]],
  ['mandoc', ['-T', 'lint', '-W', 'error', MAN_PAGE]],
] as const) {
  test.skipIf(Bun.which(program) === null)(`${program} accepts the man page without a warning`, () => {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    if (program === 'groff') expect(stdout).toContain('enqueue');
  });
}

test('help topics list every error, setting and environment variable, and are at most 80 columns wide', async () => {
  const codes = await outputOf('help', 'exit-codes');
  for (const [code, { exit }] of Object.entries(ERRORS)) {
    const block = codes.split(/\n {2}(?=\d {2})/).find((text) => text.startsWith(`${exit}  `));
    expect(block).toContain(code);
  }
  const settings = await outputOf('help', 'config');
  expect(settings).toContain('config set KEY VALUE');
  for (const key of SETTING_KEYS) expect(settings).toContain(`\n  ${key} `);
  const variables = await outputOf('help', 'environment');
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  for (const name of sources) {
    const text = readFileSync(join(ROOT, 'src', name), 'utf8');
    const variablesRead = text.matchAll(/\b(?:environment|env)\.([A-Z][A-Z_]+)\b/g);
    const variablesSet = text.matchAll(/^\s+(QUEUECTL_[A-Z_]+):/gm);
    for (const [, variable] of [...variablesRead, ...variablesSet]) {
      if (variable !== 'HOME') expect(variables).toContain(variable!);
    }
  }
  for (const topic of Object.keys(TOPICS)) {
    const text = await outputOf('help', topic);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  }
});
