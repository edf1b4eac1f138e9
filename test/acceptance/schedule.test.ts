import { expect, test as plainTest } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killAll, workersOf } from '../support/processes.ts';
import {
  configure,
  type JobJson,
  lines,
  type Sandbox,
  sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';
import { below, seededRandom } from '../support/random.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

interface ScheduleJson {
  name: string;
  paused: boolean;
  next_run_at: string | null;
  next_runs: string[];
  last_job_id: string | null;
  waiting: number;
  timezone: string | null;
}

/** Adds a schedule whose jobs append their scheduled time to a file, one per second. Returns the path of the file. */
async function addTickingSchedule(box: Sandbox, ...flags: string[]): Promise<string> {
  const log = join(box.directory, 'ticks');
  const command = `echo $QUEUECTL_SCHEDULED_AT >> ${log}`;
  await box.json(['schedule', 'add', 'ticking', '--every', '1s', ...flags, command]);
  return log;
}

/** Returns the scheduled times in the file, in seconds. Expects that none of them occurs twice. */
function readTicks(log: string): number[] {
  const ticks = lines(log).map((line) => Date.parse(line) / 1000);
  expect(ticks.every(Number.isInteger)).toBe(true);
  expect(ticks.length).toBe(new Set(ticks).size);
  return ticks.sort((a, b) => a - b);
}

/** Returns the length in seconds of each gap that is longer than one second. */
function gapsIn(ticks: number[]): number[] {
  return ticks.slice(1).flatMap((at, i) => (at - ticks[i]! > 1 ? [at - ticks[i]!] : []));
}

test('with four workers, each tick of a schedule that is due every second runs once', async (box) => {
  const log = await addTickingSchedule(box, '--overlap', 'allow');
  const workers = await box.startWorkers('--count', '4');
  await until(() => lines(log).length >= 10, 'ten ticks');
  await box.run(['worker', 'stop']);
  await workers.exit;
  expect(gapsIn(readTicks(log))).toEqual([]);
  const jobs = await box.json<JobJson[]>(['list', '--name', 'ticking']);
  expect(jobs.filter((job) => job.state === 'completed')).toHaveLength(lines(log).length);
});

test('the job of a tick starts within 1.5 s, even if the worker that enqueued it does not serve its queue', async (box) => {
  await configure(box, { 'poll-interval': '1m' });
  await box.startWorkers('--queue', 'other', '--count', '3');
  await box.startWorkers();
  await box.json(['schedule', 'add', 'often', '--every', '3s', 'true']);
  const jobs = () => box.json<(JobJson & Record<string, string>)[]>(['list', '--state', 'completed']);
  const done = await until(async () => {
    const found = await jobs();
    return found.length >= 3 && found;
  }, 'three ticks have run');
  for (const { created_at, started_at } of done)
    expect(Date.parse(started_at!) - Date.parse(created_at!)).toBeLessThan(1500);
});

test('no tick runs twice or is missing as long as one worker lives, although workers are killed at random moments', async (box) => {
  const random = seededRandom('kills');
  const log = await addTickingSchedule(box, '--overlap', 'allow');
  await box.startWorkers('--count', '3');
  for (let kills = 0; kills < 6; kills++) {
    // The kill happens around a tick, where it is most likely to do harm.
    const killAtMs = (Math.ceil(Date.now() / 1000) + 2) * 1000 - 20 + below(random, 60);
    const workers = await workersOf(box);
    await until(() => Date.now() >= killAtMs, 'the moment to kill');
    const victim = workers[below(random, workers.length)];
    if (victim !== undefined) await killAll([victim.pid]);
  }
  const ticksSoFar = lines(log).length;
  await until(() => lines(log).length >= ticksSoFar + 2, 'ticks after the last kill');
  const ticks = readTicks(log);
  expect(ticks.length).toBeGreaterThan(10);
  // A job whose worker was killed right after the claim runs a little later, so the test waits for it.
  await until(() => gapsIn(readTicks(log)).length === 0, 'no tick is missing', 15_000);
});

for (const [catchUp, runsMissedTick] of [
  ['none', false],
  ['one', true],
] as const) {
  test(`after SIGKILL of all workers with catch-up ${catchUp}, no tick runs twice, and only ticks while no worker ran are missing`, async (box) => {
    const log = await addTickingSchedule(box, '--overlap', 'allow', '--catch-up', catchUp);
    const supervisor = await box.startWorkers('--count', '2');
    await until(() => lines(log).length >= 2, 'two ticks');
    const pids = (await workersOf(box)).map((worker) => worker.pid);
    await killAll([supervisor.pid, ...pids]);
    const killedAtMs = Date.now();
    await until(() => Date.now() >= killedAtMs + 8000, 'eight seconds without a worker');
    const restartingAtMs = Date.now();
    await box.startWorkers('--count', '2');
    const restartedAtMs = Date.now();
    const ticksAfterRestart = () => readTicks(log).filter((at) => at * 1000 > restartedAtMs);
    await until(() => ticksAfterRestart().length >= 3, 'three ticks more');
    const ticks = readTicks(log);
    expect(gapsIn(ticks)).toHaveLength(1);
    // The last five seconds before the restart are excluded, because a tick that is 2 s late still runs.
    const ticksWhileDown = ticks.filter(
      (at) => at * 1000 > killedAtMs + 500 && at * 1000 < restartingAtMs - 5000,
    );
    expect(ticksWhileDown).toEqual([]);
    const ticksBeforeRestart = ticks.filter(
      (at) => at * 1000 > killedAtMs + 500 && at * 1000 <= restartedAtMs,
    );
    expect(ticksBeforeRestart.length > 0 || !runsMissedTick).toBe(true);
  });
}

test('with overlap queue, ticks that come during a run wait and then run one after another', async (box) => {
  const log = join(box.directory, 'log');
  const gate = join(box.directory, 'gate');
  const command = `echo start >> ${log}; until [ -e ${gate} ]; do sleep 0.05; done; echo end >> ${log}`;
  await box.json(['schedule', 'add', 'slow', '--every', '1s', '--overlap', 'queue', command]);
  await box.startWorkers('--count', '3');
  const slow = () => box.json<ScheduleJson>(['schedule', 'show', 'slow']);
  await until(async () => (await slow()).waiting >= 2, 'two ticks wait');
  expect(lines(log)).toEqual(['start']);
  await box.run(['enqueue', `touch ${gate}`]);
  await until(() => lines(log).length >= 6, 'three jobs have run');
  expect(lines(log).slice(0, 6)).toEqual(['start', 'end', 'start', 'end', 'start', 'end']);
});

test('with the default overlap, skip, a tick during a run is skipped', async (box) => {
  const log = join(box.directory, 'ticks');
  const gate = join(box.directory, 'gate');
  const command = `echo $QUEUECTL_SCHEDULED_AT >> ${log}; until [ -e ${gate} ]; do sleep 0.05; done`;
  await box.json(['schedule', 'add', 'slow', '--every', '1s', command]);
  const workers = await box.startWorkers('--count', '2');
  // If the workers start late, the first ticks are skipped before the job of an earlier one has started.
  await until(() => lines(log).length > 0, 'the job has started');
  const skipped = (): number => workers.output().split(' skipped').length - 1;
  const before = skipped();
  await until(() => skipped() >= before + 2, 'two more ticks are skipped');
  expect(readTicks(log)).toHaveLength(1);
  expect(await box.json<JobJson[]>(['list'])).toHaveLength(1);
  await box.run(['enqueue', `touch ${gate}`]);
  await until(() => lines(log).length >= 2, 'another tick');
});

test('a schedule can be paused, resumed, run and removed', async (box) => {
  const log = await addTickingSchedule(box, '--overlap', 'allow');
  const show = () => box.json<ScheduleJson>(['schedule', 'show', 'ticking']);
  await box.startWorkers();
  await until(() => lines(log).length >= 1, 'a tick');
  expect(await box.json<ScheduleJson>(['schedule', 'pause', 'ticking'])).toMatchObject({
    paused: true,
    next_run_at: null,
    next_runs: [],
  });
  // After the time of two ticks, all jobs of earlier ticks have run, so the next job comes from `schedule run`.
  const pausedAtMs = Date.now();
  await until(() => Date.now() > pausedAtMs + 2500, 'two ticks could have come');
  const runsBefore = lines(log).length;
  const { id } = await box.json<JobJson>(['schedule', 'run', 'ticking']);
  await until(() => lines(log).length === runsBefore + 1, 'the job of schedule run');
  expect(await show()).toMatchObject({ last_job_id: id, paused: true });
  await box.json(['schedule', 'resume', 'ticking']);
  await until(() => lines(log).length > runsBefore + 1, 'a tick after the pause');
  expect((await box.run(['schedule', 'remove', 'ticking'])).stdout).toBe('ticking\n');
  expect(await box.json<unknown[]>(['schedule', 'list'])).toEqual([]);
  expect((await box.run(['schedule', 'show', 'ticking'])).code).toBe(3);
});

test('a schedule shows its next five runs and gives its jobs the options of schedule add', async (box) => {
  const addArgs = ['schedule', 'add', 'nightly', '--cron', '30 2 * * *', '--tz', 'europe/berlin'];
  const jobFlags = ['--queue=q', '--priority=high', '--max-retries=2', '--env', 'A=b', '--tag', 'k=v'];
  expect((await box.run([...addArgs, ...jobFlags, '--', 'printf', '%s', 'a b'])).stdout).toBe('nightly\n');
  const shown = await box.json<ScheduleJson>(['schedule', 'show', 'nightly']);
  expect(shown.timezone).toBe('Europe/Berlin');
  expect(shown.next_runs).toHaveLength(5);
  expect(shown.next_runs[0]!).toBe(shown.next_run_at!);
  for (const at of shown.next_runs) expect(at).toMatch(/T0[01]:30:00\.000Z$/);
  const job = await box.json<JobJson>(['schedule', 'run', 'nightly']);
  expect(job).toMatchObject({
    ...{ argv: ['printf', '%s', 'a b'], queue: 'q', priority: 10, max_retries: 2, tags: { k: 'v' } },
    ...{ env: { A: 'b', QUEUECTL_SCHEDULE: 'nightly' }, name: 'nightly', cwd: box.directory },
  });
  const again = await box.run(['enqueue', JSON.stringify({ ...job, id: 'again' })]);
  expect(again).toMatchObject({ code: 0, stdout: 'again\n' });
});

test('a draining worker exits although a schedule has later runs', async (box) => {
  await box.json(['schedule', 'add', 'later', '--every', '1h', 'true']);
  await box.run(['enqueue', 'true']);
  expect((await box.run(['worker', 'start', '--drain'])).code).toBe(0);
});

const add = (...args: string[]): string[] => ['schedule', 'add', ...args];
const cron = (expression: string, ...more: string[]): string[] =>
  add('x', '--cron', expression, ...more, 'true');
const REFUSED_ADDS: [what: string, args: string[], code: number, says: RegExp][] = [
  ['a missing name', add(), 2, /schedule name is missing/],
  ['a missing command', add('x', '--every', '1m'), 2, /requires a command/],
  ['two commands', add('x', '--every', '1m', '-c', 'true', 'true'), 2, /more than once/],
  ['a missing time', add('x', 'true'), 2, /requires --cron or --every/],
  ['both --cron and --every', cron('* * * * *', '--every', '1m'), 2, /cannot have both/],
  ['--tz without --cron', add('x', '--every', '1m', '--tz', 'UTC', 'true'), 2, /--tz/],
  ['an unknown time zone', cron('* * * * *', '--tz', 'Mars/Olympus'), 2, /unknown time zone 'Mars\/Olympus'/],
  ['--every 0', add('x', '--every', '0', 'true'), 2, /--every/],
  ['--every 999ms', add('x', '--every', '999ms', 'true'), 2, /--every/],
  ['--every so', add('x', '--every', 'so', 'true'), 2, /invalid duration/],
  ['--every 9999999d', add('x', '--every', '9999999d', 'true'), 2, /--every/],
  ['a step of 0', cron('*/0 * * * *'), 2, /cron expression/],
  ['a huge range', cron('0 0 1-100000000 * *'), 2, /cron expression/],
  ['a broken range', cron('0 0 1--100000000 * *'), 2, /cron expression/],
  ['four fields', cron('* * * *'), 2, /4 fields instead of 5/],
  ['six fields', cron('* * * * * *'), 2, /6 fields instead of 5/],
  ['no fields', cron(''), 2, /0 fields/],
  ['30 February', cron('0 0 30 2 *'), 2, /never/],
  ['a long expression', cron(`${'1,'.repeat(5000)}1 * * * *`), 2, /256/],
  ['@reboot', cron('@reboot'), 2, /@reboot/],
  ['an unknown --overlap', cron('* * * * *', '--overlap', 'alow'), 2, /did you mean 'allow'/],
  ['an unknown --catch-up', cron('* * * * *', '--catch-up', 'some'), 2, /none, one, all/],
  ['an invalid name', add('a\nb', '--every', '1m', 'true'), 2, /schedule name/],
  ['--id', cron('* * * * *', '--id', 'a'), 2, /unknown flag/],
  ['--delay', cron('* * * * *', '--delay', '5'), 2, /unknown flag/],
  ['a job with an id', add('x', '--every', '1m', '{"id":"a","command":"true"}'), 2, /cannot have an id/],
  ['two jobs', add('x', '--every', '1m', '[{"command":"a"},{"command":"b"}]'), 2, /one job/],
  ['a variable of queuectl', cron('* * * * *', '--env', 'QUEUECTL_JOB_ID=1'), 2, /QUEUECTL_JOB_ID/],
  ['an unknown priority', cron('* * * * *', '--priority', 'x'), 2, /priority/],
];

for (const [what, args, code, says] of REFUSED_ADDS) {
  plainTest.concurrent(`schedule add refuses ${what} and writes nothing`, async () => {
    const box = sandbox();
    try {
      expectRefusal(await box.run(args), code, says);
      expect(readdirSync(box.directory)).toEqual([]);
    } finally {
      await box.cleanup();
    }
  });
}

test('commands report an unknown schedule, and schedule add refuses a name that exists', async (box) => {
  await box.run(add('nightly', '--every', '1h', 'true'));
  for (const verb of ['show', 'remove', 'pause', 'resume', 'run'])
    expectRefusal(await box.run(['schedule', verb, 'nihgtly']), 3, /did you mean 'nightly'/);
  expectRefusal(await box.run(add('nightly', '--every', '2h', 'false')), 4, /already exists/);
  expect(await box.json<unknown[]>(['schedule', 'list'])).toMatchObject([{ every_ms: 3_600_000 }]);
});

test('a schedule whose unique key is taken skips its ticks, and the worker keeps running', async (box) => {
  const flags = ['--every', '1s', '--overlap', 'allow', '--unique', 'k'];
  await box.json(['schedule', 'add', 'keyed', ...flags, 'until test -e go; do sleep 0.05; done']);
  const first = await box.json<JobJson>(['schedule', 'run', 'keyed']);
  expect(await box.json(['schedule', 'run', 'keyed'])).toMatchObject({ id: first.id, existing: true });
  const workers = await box.startWorkers();
  await until(
    async () => (await box.run(['events', '--json'])).stdout.split('"kind":"tick"').length > 4,
    'ticks that were skipped',
  );
  expect(await box.json(['list'])).toHaveLength(1);
  expect(workers.output()).not.toContain('error');
  expect((await box.run(['schedule', 'show', 'keyed'])).stdout).toContain(first.id);
  await box.run(['schedule', 'pause', 'keyed']);
  writeFileSync(join(box.directory, 'go'), '');
  await untilState(box, first.id, 'completed');
  await box.run(['worker', 'stop']);
  expect(await workers.exit).toBe(0);
});
