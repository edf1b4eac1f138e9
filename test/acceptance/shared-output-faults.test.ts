import { expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inHosts } from '../support/hosts.ts';
import { onServer } from '../support/postgres.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { killAll, killSurvivors, processesOfJob, untilWorkerOf } from '../support/processes.ts';
import { configure, enqueue, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { onServer as onSomeServer } from '../support/sandbox-store.ts';

/** Returns a command that prints numbered lines, also to the file `copy`, until the file `stop` exists. */
const counting = (box: Sandbox): string => {
  const [copy, stop] = ['copy', 'stop'].map((name) => join(box.directory, name));
  return `n=0; until test -e ${stop}; do n=$((n+1)); echo "line $n" | tee -a ${copy}; sleep 0.01; done`;
};
const stopCounting = (box: Sandbox): void => writeFileSync(join(box.directory, 'stop'), '');
const counted = (box: Sandbox): string => readFileSync(join(box.directory, 'copy'), 'utf8');

/** Waits until the counting job has printed this many more lines, and the follower has shown the first of them. */
async function untilMore(box: Sandbox, following: { stdout(): string }, more: number): Promise<void> {
  const before = lines(join(box.directory, 'copy')).length;
  await until(() => lines(join(box.directory, 'copy')).length >= before + more, `${more} lines more`);
  await until(() => `\n${following.stdout()}`.includes(`\nline ${before + 1}\n`), 'a new line is shown');
}

test(
  'an attempt that is adopted, again and again, is shared without a hole and without a repetition',
  inHosts(['near', 'far'], async (near, far) => {
    await configure(far, { 'heartbeat-interval': '200ms' });
    await far.startWorkers();
    await enqueue(near, 'a', counting(far));
    const following = near.start(['logs', '-f', 'a']);
    for (let i = 0; i < 3; i++) {
      await untilMore(far, following, 30);
      await killAll([(await untilWorkerOf(far, 'a')).pid]);
    }
    await untilMore(far, following, 30);
    stopCounting(far);
    expect(await following.closed).toBe(0);
    expect(following.stdout()).toBe(counted(far));
    expect((await untilState(near, 'a', 'completed')).attempts).toBe(1);
    expect((await near.run(['logs', 'a'])).stdout).toBe(counted(far));
  }),
);

test(
  'lost connections repeat no bytes and leave no hole',
  inHosts(['near', 'far'], async (near, far) => {
    const env = { PGAPPNAME: 'far-workers' };
    const workers = far.start(['worker', 'start'], { env });
    await until(() => workers.output().includes(' ready '), 'the worker is ready');
    await enqueue(near, 'a', counting(far));
    const following = near.start(['logs', '-f', 'a']);
    await untilMore(far, following, 5);
    const cut = () =>
      onServer(near.environment.QUEUECTL_DB!, (client) =>
        client.query(
          "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'far-workers'",
        ),
      );
    for (let i = 0; i < 10; i++) {
      expect(Number((await cut()).rows[0].count)).toBeGreaterThan(0);
      await untilMore(far, following, 15);
    }
    stopCounting(far);
    expect(await following.closed).toBe(0);
    expect(following.stdout()).toBe(counted(far));
  }),
);

test(
  'a host follows a job to its cancellation, and sees what the command printed last',
  inHosts(['near', 'far'], async (near, far) => {
    await far.startWorkers();
    await enqueue(near, 'a', `trap 'echo stopping; exit 1' TERM; echo started; while :; do sleep 0.05; done`);
    const following = near.start(['logs', '-f', 'a']);
    await until(() => following.stdout() === 'started\n', 'it has started');
    expect((await near.run(['cancel', 'a'])).code).toBe(0);
    expect(await following.closed).toBe(0);
    // The shell may also print that its child was terminated.
    expect(following.stdout()).toMatch(/^started\n(Terminated\n)?stopping\n$/);
    await untilState(near, 'a', 'cancelled');
    expect((await near.run(['logs', 'a'])).stdout).toBe(following.stdout());
  }),
);

test(
  'a cancel on a host without workers shares the last output of the job',
  inHosts(['near', 'far'], async (near, far) => {
    const workers = await far.startWorkers();
    const command = "trap 'echo stopping; exit 1' TERM; seq 1 9000; while :; do sleep 0.05; done";
    await enqueue(near, 'a', command);
    await until(async () => (await near.run(['logs', '-n', '1', 'a'])).stdout === '9000\n', 'it is shared');
    await killAll([workers.pid, (await untilWorkerOf(far, 'a')).pid]);
    expect((await far.run(['cancel', 'a'])).code).toBe(0);
    await untilState(near, 'a', 'cancelled');
    expect((await near.run(['logs', 'a'])).stdout).toMatch(/\n9000\n(Terminated\n)?stopping\n$/);
  }),
);

test(
  'after a host was killed whole, other hosts still have what it shared',
  inHosts(['near', 'far'], async (near, far) => {
    await configure(far, { 'heartbeat-interval': '200ms', 'kill-grace': '200ms', lease: '8s' });
    await far.startWorkers();
    await enqueue(near, 'a', 'seq 1 9000; echo last words; sleep 600', { at_most_once: true });
    const following = near.start(['logs', '-f', 'a']);
    await until(() => following.stdout().endsWith('\nlast words\n'), 'all lines are shown');
    await killSurvivors(far.home);
    expect((await near.run(['logs', '-n', '1', 'a'])).stdout).toBe('last words\n');
    await near.startWorkers();
    expect(await following.closed).toBe(0);
    await untilState(near, 'a', 'dead');
    const all = `${Array.from({ length: 9000 }, (_, i) => i + 1).join('\n')}\nlast words\n`;
    expect((await near.run(['logs', 'a'])).stdout).toBe(all);
    expect(following.stdout()).toBe(all);
    const { history } = await near.json<{
      history: { outcome: string; output_bytes: number; output_file: string }[];
    }>(['show', 'a']);
    expect(history).toMatchObject([{ outcome: 'lost', output_bytes: all.length }]);
    expect(existsSync(history[0]!.output_file)).toBe(true);
    expect((await near.run(['db', 'check'])).code).toBe(0);
  }),
);

test('output that a job writes while the server is away is shared before its end is stored', async () => {
  const server = await startPostgres({ durable: true });
  const inside = inHosts(
    ['near', 'far'],
    async (near, far) => {
      const go = join(far.directory, 'go');
      await far.startWorkers();
      await enqueue(near, 'a', `seq 1 9000; until test -e ${go}; do sleep 0.02; done; seq 1 9000; echo end`);
      await until(async () => (await near.run(['logs', '-n', '1', 'a'])).stdout === '9000\n', 'it is shared');
      await server.crash();
      writeFileSync(go, '');
      await until(() => processesOfJob(far, 'a').length === 0, 'the job has ended');
      await server.startAgain();
      await untilState(near, 'a', 'completed');
      const numbers = `${Array.from({ length: 9000 }, (_, i) => i + 1).join('\n')}\n`;
      expect((await near.run(['logs', 'a'])).stdout).toBe(`${numbers}${numbers}end\n`);
      expect((await near.run(['db', 'check'])).code).toBe(0);
    },
    () => onSomeServer(server.url, false),
  );
  await inside().finally(server.stop);
});
