import { expect, test } from 'bun:test';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  addHost,
  enqueueLongJob,
  letGo,
  managersOf,
  overlaps,
  QUICK,
  runsOf,
  type TestHost,
  untilRuns,
  withHosts,
} from '../support/hosts.ts';
import { canFakeBoots, newBoot } from '../support/other-boot.ts';
import { argumentsOf, killAll, sendSignal } from '../support/processes.ts';
import { configure, enqueue, type Sandbox, until, untilState } from '../support/queuectl.ts';

const hasBoots = canFakeBoots();

/** The kinds of copies, and the first words of their commands. A cloned container has the kernel, and so the boot, of the original. */
const KINDS: [kind: string, through: (box: Sandbox) => string[]][] = [
  ['machine', (box) => newBoot(box.directory)],
  ['container', () => ['unshare', '-pf', '--mount-proc']],
];

/** Adds a machine with a copy of a host's disk. It runs in a boot of its own, unless `through` says otherwise. */
function copyHost(box: Sandbox, original: TestHost, through = newBoot(box.directory)): TestHost {
  const copy = addHost(box, 'copy', { through });
  copy.environment.QUEUECTL_HOSTNAME = 'copy';
  // Named pipes cannot be copied.
  const filter = (path: string): boolean => !path.endsWith('/lifelines');
  cpSync(original.home, copy.home, { recursive: true, filter });
  return copy;
}

/** Runs `queuectl` on a host, in its own boot. */
async function runOn(box: Sandbox, { environment, through }: TestHost, args: string[]) {
  const running = box.start(args, { env: environment, through });
  return { code: await running.exit, output: running.output() };
}

const hostsOfWorkers = async (box: Sandbox): Promise<string[]> =>
  (await box.json<{ hostname: string }[]>(['worker', 'list'])).map((worker) => worker.hostname).sort();

const eachKind = test.skipIf(!hasBoots).each(KINDS);
type TestOfHosts = Parameters<typeof withHosts>[0];
/** Returns a test with a host that is to be copied. */
const ofKind =
  (body: (copyOf: (a: TestHost) => TestHost, ...rest: Parameters<TestOfHosts>) => Promise<void>) =>
  (_: string, through: (box: Sandbox) => string[]) =>
    withHosts((box, ...hosts) => body((a) => copyHost(box, a, through(box)), box, ...hosts))();

eachKind(
  'a copy of a %s leaves the jobs of the living original alone, and both report that one is a copy',
  ofKind(async (copyOf, box, a) => {
    await configure(box, QUICK);
    a.environment.QUEUECTL_HOSTNAME = 'original';
    await enqueueLongJob(box, 'one');
    const originals = await a.start();
    await untilRuns(box, 'one', 1);
    const copy = copyOf(a);
    try {
      const workers = await copy.start();
      const reported =
        'runs workers with the host id of this machine, so one of the two is a copy of the other';
      await until(() => workers.output().includes(`original ${reported}`), 'reported by the copy');
      await until(() => originals.output().includes(`copy ${reported}`), 'reported by the original');
      await enqueue(box, 'two', 'echo $QUEUECTL_HOME >>runs-two');
      await untilState(box, 'two', 'completed');
      expect(runsOf(box, 'two')).toEqual([copy.home]);
      expect(runsOf(box, 'one')).toEqual([a.home]);
      expect(await hostsOfWorkers(box)).toEqual(['copy', 'original']);
      // The copy can only ask the original to stop the job.
      await enqueueLongJob(box, 'three');
      expect((await runOn(box, copy, ['cancel', 'one'])).code).toBe(0);
      expect(overlaps(box)).toEqual([]);
      expect((await box.run(['worker', 'stop', '--force', '--host', 'copy'])).code).toBe(0);
      expect(await hostsOfWorkers(box)).toEqual(['original']);
      letGo(box);
      await untilState(box, 'three', 'completed');
    } finally {
      await copy.kill();
    }
  }),
  100_000,
);

eachKind(
  'a copy of a %s shows the output of the original, and takes over its jobs after its lease',
  ofKind(async (copyOf, box, a) => {
    // On a busy machine, a shorter lease could end while the original is still alive.
    await configure(box, { ...QUICK, lease: '10s' });
    await enqueue(box, 'long', 'seq 5000; echo end', {});
    await a.start();
    await untilState(box, 'long', 'completed');
    const isOutput = (name: string): boolean => name.endsWith('.out') || name.includes('out');
    await enqueueLongJob(box, 'one');
    await untilRuns(box, 'one', 1);
    const copy = copyOf(a);
    try {
      // The disk was copied before the output was written.
      const [store] = readdirSync(copy.home).filter((name) => name.endsWith('.d'));
      const attempts = join(copy.home, store!, 'attempts');
      for (const name of readdirSync(attempts)) if (isOutput(name)) rmSync(join(attempts, name));
      const { output } = await runOn(box, copy, ['logs', 'long']);
      expect(output).toEndWith('4999\n5000\nend\n');
      await a.kill();
      expect((await runOn(box, copy, ['logs', 'long'])).output).toBe(output);
      await copy.start();
      expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
      expect(runsOf(box, 'one')).toEqual([a.home, copy.home]);
      expect(overlaps(box)).toEqual([]);
    } finally {
      await copy.kill();
    }
  }),
  100_000,
);

test.skipIf(!hasBoots)(
  'a host that was rebooted settles its own records after its lease, and runs no finished job again',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'done', 7);
    await enqueueLongJob(box, 'cut', 0, { queue: 'other' });
    await a.start('--concurrency', '2');
    await untilRuns(box, 'done', 1);
    await untilRuns(box, 'cut', 1);
    // The workers die first, so that nobody stores the result of the command.
    await killAll(managersOf(a));
    const frames = (id: string): number[] =>
      a.pids().filter((pid) => argumentsOf(pid).join(' ').includes(`lock-${id}`));
    sendSignal(frames('cut'), 'SIGKILL');
    letGo(box);
    await until(() => frames('done').length === 0, 'the command has ended');
    await a.kill();
    const rebooted = addHost(box, 'a', { through: newBoot(box.directory) });
    const workers = await rebooted.start('--concurrency', '2');
    await b.start('--concurrency', '2');
    expect(await untilState(box, 'done', 'dead')).toMatchObject({ exit_code: 7, attempts: 1, crashes: 0 });
    expect(await untilState(box, 'cut', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect([runsOf(box, 'done'), runsOf(box, 'cut').length]).toEqual([[a.home], 2]);
    expect(workers.output()).toContain('job=done attempt=1 queue=default adopted');
    expect(workers.output()).not.toContain('copy');
    expect(existsSync(join(box.directory, 'overlaps'))).toBe(false);
  }),
  100_000,
);
