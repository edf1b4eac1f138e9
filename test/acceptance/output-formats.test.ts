/** Tests how results are printed: --json=FIELDS, --format, --header, --time, --utc, --wide. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sandbox, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { onTerminal } from '../support/terminal.ts';

const box = sandbox();
const COMMAND = `exit 3 # "quoted", with commas, and longer than any narrow terminal is wide`;
let createdMs: number;

beforeAll(async () => {
  await box.run(['enqueue', '--id', 'one', '--queue', 'mail', '--max-retries', '1', COMMAND]);
  await box.run(['enqueue', '--id', 'two', '--delay', '1h', '--tag', 'k=v', '--', 'printf', 'a\tb\nc']);
  await box.run(['schedule', 'add', 'nightly', '--cron', '0 3 * * *', '--', 'true']);
  await box.startWorkers();
  await box.run(['wait', 'one']);
  createdMs = Date.parse((await box.json<{ created_at: string }>(['show', 'one'])).created_at);
});
afterAll(() => box.cleanup());

/** Expects that a command succeeds and prints nothing to stderr, and returns its stdout. */
async function stdoutOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await box.run(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

const lines = (text: string): string[] => text.split('\n').slice(0, -1);

/** Fields that are present only in some results. */
const OPTIONAL_FIELDS = ['licenses', 'existing', 'gone'];

for (const args of [
  ['list'],
  ['show', 'one'],
  ['dlq', 'list'],
  ['dlq', 'show', 'one'],
  ['worker', 'list'],
  ['queue', 'list'],
  ['schedule', 'list'],
  ['schedule', 'show', 'nightly'],
  ['config', 'list'],
  ['config', 'get', 'max-retries'],
  ['status'],
  ['explain', 'two'],
  ['doctor'],
  ['version'],
]) {
  const name = args.slice(0, 2).join(' ');
  test(`${name} --json=help lists the fields, and --json=FIELDS selects some of them`, async () => {
    const fields = lines(await stdoutOf(...args, '--json=help'));
    const whole = [JSON.parse(await stdoutOf(...args, '--json'))].flat()[0] as object;
    expect(fields.filter((field) => !OPTIONAL_FIELDS.includes(field)).sort()).toEqual(
      Object.keys(whole).sort(),
    );
    const picked = [JSON.parse(await stdoutOf(...args, `--json=${fields.at(-1)},${fields[0]}`))].flat()[0];
    expect(Object.keys(picked as object)).toEqual([fields.at(-1)!, fields[0]!]);
  });
}

test('fields of events, statistics, enqueued jobs and awaited jobs can be selected', async () => {
  const fields = lines(await stdoutOf('events', '--json=help'));
  for (const line of lines(await stdoutOf('events', '--json', '--lines', '100')))
    for (const name of Object.keys(JSON.parse(line))) expect(fields).toContain(name);
  const [event] = lines(await stdoutOf('events', '--kind', 'dead', '--json=job_id,exit_code,next_run_at'));
  expect(JSON.parse(event!)).toEqual({ job_id: 'one', exit_code: 3, next_run_at: null });
  expect(JSON.parse(await stdoutOf('stats', '--json=jobs')).jobs).toMatchObject({ dead: 1 });
  expect(JSON.parse(await stdoutOf('stats', '--range', '1h', '--json=range,step_ms')).range).toBe('1h');
  const added = JSON.parse(
    await stdoutOf('enqueue', '--json=id,queue', '--id', 'x', '--delay', '1h', 'true'),
  );
  expect(added).toEqual({ id: 'x', queue: 'default' });
  await stdoutOf('cancel', 'x');
  expect((await box.run(['wait', 'x', '--json=state'])).stdout).toBe('[{"state":"cancelled"}]\n');
  await stdoutOf('delete', 'x');
});

test('list supports every format', async () => {
  expect(await stdoutOf('list', '--format', 'ids')).toBe('two\none\n');
  expect(JSON.parse(await stdoutOf('list', '--format', 'json'))).toHaveLength(2);
  const objects = lines(await stdoutOf('list', '--format=jsonl')).map((line) => JSON.parse(line));
  expect(objects).toEqual(await box.json(['list']));
  expect(await stdoutOf('list', '--format', '{id}\\t{exit_code}: {tags} {argv}')).toBe(
    'two\t: {"k":"v"} ["printf","a\\tb\\nc"]\none\t3: {} \n',
  );
  expect(await stdoutOf('list', '--format', '{"{id}"}\\\\')).toBe('{"two"}\\\n{"one"}\\\n');
  const iso = new Date(createdMs).toISOString();
  expect(lines(await stdoutOf('list', '--state', 'dead', '--format', 'csv', '--header'))).toEqual([
    'ID,STATE,QUEUE,PRIORITY,ATTEMPTS,CREATED,DUE,COMMAND,WAITING FOR',
    `one,dead,mail,0,1/1,${iso},,"${COMMAND.replaceAll('"', '""')}",`,
  ]);
  expect(lines(await stdoutOf('list', '--state', 'dead', '--header'))).toEqual([
    'ID\tSTATE\tQUEUE\tPRIORITY\tATTEMPTS\tCREATED\tDUE\tCOMMAND\tWAITING FOR',
    `one\tdead\tmail\t0\t1/1\t${iso}\t\t${COMMAND}\t`,
  ]);
  expect(await stdoutOf('list', '--format', 'tsv')).toBe(await stdoutOf('list'));
  const [titles, , row] = lines(await stdoutOf('list', '--format', 'table'));
  expect(titles).toMatch(/^ID {3}STATE {4}WAITING FOR +QUEUE/);
  expect(row).toMatch(/(ago|now) {2}.*…$/);
});

test('the lists of queues, schedules, settings, workers, dead jobs and events support --format', async () => {
  expect(await stdoutOf('queue', 'list', '--format', 'ids')).toBe('default\nmail\n');
  expect(await stdoutOf('schedule', 'list', '--format', '{name} {cron}')).toBe('nightly 0 3 * * *\n');
  expect(await stdoutOf('config', 'list', '--format', 'ids')).toStartWith('max-retries\n');
  expect(await stdoutOf('worker', 'list', '--format', '{status} {queues}')).toBe('idle ["*"]\n');
  expect(await stdoutOf('dlq', 'list', '--format', '{id} {last_error}')).toBe('one exit code 3\n');
  const events = lines(await stdoutOf('events', '--job', 'one', '--format', 'csv', '--header'));
  expect(events[0]).toBe('NUMBER,AT,KIND,ACTOR,JOB,QUEUE,ATTEMPT,DETAIL');
  expect(events).toHaveLength(4);
  expect(await stdoutOf('events', '--job', 'one', '--format', '{kind}')).toBe('enqueued\nstarted\ndead\n');
});

test('--time and --utc change how times are printed', async () => {
  const env = { TZ: 'Asia/Tokyo' };
  const createdCell = async (...flags: string[]): Promise<string> =>
    (await box.run(['list', '--state', 'dead', ...flags], { env })).stdout.split('\t')[5]!;
  const withoutZone = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
  expect(await createdCell('--time', 'iso')).toBe(new Date(createdMs).toISOString());
  expect(await createdCell('--time', 'local')).toBe(withoutZone(createdMs + 9 * 3_600_000));
  expect(await createdCell('--utc')).toBe(`${withoutZone(createdMs)}Z`);
  expect(await createdCell('--time', 'unix')).toBe(String(createdMs / 1000));
  expect(await createdCell('--time', 'relative')).toMatch(/^(now|\d.* ago)$/);
  const text = await stdoutOf('list', '--state', 'dead', '--format', '{created_at}', '--time', 'unix');
  expect(text).toBe(`${createdMs / 1000}\n`);
  expect(await stdoutOf('show', 'one', '--utc')).toContain(`created\t${withoutZone(createdMs)}Z\n`);
  expect(await stdoutOf('status', '--time', 'unix')).toMatch(/\t\d{10}(\.\d+)?\t/);
});

test('on a terminal a list is cut to the width, except with --wide, --no-trunc or --format tsv', async () => {
  const shown = async (...flags: string[]): Promise<string> => {
    const running = onTerminal(box, ['list', '--state', 'dead', ...flags], 24, 60);
    expect(await running.closed).toBe(0);
    return running.output().replaceAll('\r\n', '\n');
  };
  const narrow = lines(await shown());
  expect(narrow[1]).toEndWith('…');
  expect(narrow[1]!.length).toBeLessThanOrEqual(60);
  for (const flag of ['--wide', '--no-trunc']) {
    const [titles, row] = lines(await shown(flag));
    expect(titles).toMatch(/^ID {3}STATE {2}QUEUE {2}PRIORITY {2}ATTEMPTS {2}CREATED {2}COMMAND$/);
    expect(row).toEndWith(COMMAND);
  }
  expect(await shown('--format', 'tsv')).toBe(await stdoutOf('list', '--state', 'dead'));
});

const REFUSED_COMMANDS: [args: string[], says: RegExp][] = [
  [['list', '--format', 'jsno'], /did you mean 'json'/],
  [['list', '--format', ''], /--format must be/],
  [['list', '--format', '{stat}'], /unknown field 'stat'; did you mean 'state'/],
  [['list', '--quiet', '--format', 'csv'], /--quiet/],
  [['list', '--format', 'json', '--time', 'iso'], /--time/],
  [['list', '--format', 'ids', '--header'], /--header/],
  [['list', '--format', '{id}', '--header'], /--header/],
  [['list', '--utc', '--time', 'relative'], /--utc and --time relative/],
  [['list', '--time', 'locl'], /did you mean 'local'/],
  [['list', '-q', '--utc'], /--utc/],
  [['events', '--header'], /require --format/],
  [['events', '--utc'], /require --format/],
  [['show', 'one', '--format', 'csv'], /unknown flag '--format'/],
  [['cancel', '--format', 'csv', 'one'], /unknown flag '--format'/],
];

for (const [args, says] of REFUSED_COMMANDS) {
  test(`${args.join(' ')} is refused`, async () => expectRefusal(await box.run(args), 2, says));
}

test('with --json an invalid flag is reported as JSON before anything is done', async () => {
  for (const [args, says] of [
    [['list', '--json=id,stat'], /unknown field 'stat'; did you mean 'state'/],
    [['enqueue', '--json=idd', 'true'], /did you mean 'id'/],
    [['list', '--json', '--format', 'csv'], /--json and --format/],
    [['cancel', '--json=id', 'two'], /cancel does not support --json with fields/],
  ] as [string[], RegExp][]) {
    const { code, stdout, stderr } = await box.run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr).error.message).toMatch(says);
  }
  expect(await stdoutOf('list', '-q')).toBe('two\none\n');
});

test('list --watch prints jobs in the given format', async () => {
  const watching = box.start(['list', '--watch=100ms', '--format', '{id}={state}']);
  await until(() => watching.stdout() === 'one=dead\ntwo=pending\n', 'the list is printed');
  await stdoutOf('cancel', 'two');
  await until(() => watching.stdout().endsWith('\ntwo=cancelled\n'), 'the change is printed');
  process.kill(watching.pid, 'SIGINT');
  await watching.closed;
});

test('completion offers fields, formats and time styles, and treats --json as a flag without a value', async () => {
  const values = async (...words: string[]): Promise<string[]> =>
    lines(await stdoutOf('__complete', ...words)).map((line) => line.split('\t')[0]!);
  expect(await values('list', '--json=id,sta')).toEqual(['--json=id,state', '--json=id,started_at']);
  expect(await values('list', '--format', 'j')).toEqual(['json', 'jsonl']);
  expect(await values('list', '--time', '')).toEqual(['iso', 'relative', 'local', 'unix']);
  expect(await values('show', '--json', 'on')).toEqual(['one']);
});

for (const columns of [60, 40])
  test(`lists and doctor fit a terminal of ${columns} columns`, async () => {
    const lists = ['list', 'dlq list', 'queue list', 'schedule list', 'worker list', 'config list', 'events'];
    for (const args of [...lists, 'doctor --quick'].map((text) => text.split(' '))) {
      const running = onTerminal(box, args, 24, columns);
      await running.closed;
      const widest = Math.max(
        ...running
          .output()
          .replaceAll('\r', '')
          .split('\n')
          .map((line) => line.length),
      );
      expect({ args, widest, fits: widest <= columns }).toEqual({ args, widest, fits: true });
    }
  });
