import { expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStopped } from '../faults/process-control.ts';
import { inHosts } from '../support/hosts.ts';
import { killSurvivors, processesWith, sendSignal } from '../support/processes.ts';
import { configure, enqueue, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';

interface WorkerJson {
  id: string;
  hostname: string;
  current_jobs: string[];
}

const listWorkers = (box: Sandbox): Promise<WorkerJson[]> => box.json<WorkerJson[]>(['worker', 'list']);

/** The command of a job that runs until a file exists. It writes its start and its end to the trace. */
function gated(trace: string, gate: string, name: string): string {
  return `echo "start ${name}" >>${trace}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo "end ${name}" >>${trace}`;
}

/** Starts a job on the worker of a host, which serves a queue with the name of the host. */
async function startGated(
  box: Sandbox,
  directory: string,
  host: string,
  fields: Record<string, unknown> = {},
): Promise<{ gate: string }> {
  const gate = join(directory, `gate-${host}`);
  await enqueue(box, `job-${host}`, gated(join(directory, 'trace'), gate, host), {
    queue: host,
    max_retries: 1,
    ...fields,
  });
  await until(() => lines(join(directory, 'trace')).includes(`start ${host}`), `job-${host} runs`);
  return { gate };
}

/** Freezes a host with a lease of one hour that runs the job job-any, during `body`. `proceed` lets it go on before that. */
async function whileFrozen(
  host: Sandbox,
  other: Sandbox,
  body: (proceed: () => void, gate: string) => Promise<void>,
): Promise<void> {
  await configure(host, { lease: '1h', 'heartbeat-interval': '300ms' });
  await host.startWorkers();
  const { gate } = await startGated(other, host.directory, 'any');
  const pids = processesWith(`QUEUECTL_HOME=${host.home}`);
  const proceed = (): void => sendSignal(pids, 'SIGCONT');
  sendSignal(pids, 'SIGSTOP');
  try {
    // The host keeps the lease that it has.
    await configure(other, { lease: '20s' });
    await body(proceed, gate);
  } finally {
    proceed();
    writeFileSync(gate, '');
  }
}

/** Kills everything that runs on a host: workers, supervisor and jobs. */
async function killHost(box: Sandbox, supervisorPid: number): Promise<void> {
  process.kill(-supervisorPid, 'SIGKILL');
  await killSurvivors(box.home);
}

test(
  'workers of all hosts are listed, and worker stop --host waits for the workers of that host alone',
  inHosts(['alpha', 'beta', 'control'], async (alpha, beta, control) => {
    const trace = join(control.directory, 'trace');
    await alpha.startWorkers('--queue', 'alpha');
    await beta.startWorkers('--queue', 'beta', '--count', '2');
    expect((await listWorkers(control)).map(({ hostname }) => hostname).sort()).toEqual([
      'alpha',
      'beta',
      'beta',
    ]);
    expect((await control.run(['status'])).stdout).toContain('beta');
    const top = await control.run(['top', '--once'], { env: { COLUMNS: '160', LINES: '60' } });
    expect(top.stdout).toContain('beta');
    await startGated(control, control.directory, 'alpha');
    const { gate } = await startGated(control, control.directory, 'beta');

    const unknown = await control.run(['worker', 'stop', '--host', 'gamma']);
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(unknown.stderr).toStartWith("error: there is no host 'gamma'; known hosts: alpha, beta\n");
    expect((await control.run(['worker', 'stop', '--host', 'beta', '--all'])).code).toBe(2);

    const early = await control.run(['worker', 'stop', '--host', 'beta', '--timeout', '1ms']);
    expect(early.code).toBe(1);
    expect(early.stderr).toMatch(/^waiting for [12] workers? on host beta to finish job job-beta$/m);
    expect(early.stderr).toMatch(
      /^error: [12] workers? on host beta (is|are) still waiting for running jobs$/m,
    );
    const stopping = control.start(['worker', 'stop', '--host', 'beta']);
    writeFileSync(gate, '');
    expect(await stopping.closed).toBe(0);
    expect(stopping.stdout()).toContain('on host beta');
    expect(lines(trace)).toContain('end beta');
    expect((await listWorkers(control)).map(({ hostname }) => hostname)).toEqual(['alpha']);
    expect(await control.run(['worker', 'stop', '--host', 'beta'])).toMatchObject({
      code: 0,
      stdout: 'no workers were running on host beta\n',
    });

    // A supervisor that has not left yet does not mean that the host has no lease.
    const again = await beta.startWorkers('--queue', 'beta');
    sendSignal([again.pid], 'SIGSTOP');
    for (const stdout of ['stopped 1 worker on host beta\n', 'no workers were running on host beta\n'])
      expect(await control.run(['worker', 'stop', '--host', 'beta'])).toMatchObject({ code: 0, stdout });
    sendSignal([again.pid], 'SIGCONT');

    // Without --host, all hosts are stopped. The order is stronger than that of the gate, which stays closed.
    const all = await control.run(['worker', 'stop', '--force']);
    expect(all).toMatchObject({ code: 0, stdout: 'stopped 1 worker on host alpha\n' });
    expect(await control.json(['show', 'job-alpha'])).toMatchObject({ state: 'pending', attempts: 0 });
    expect(lines(trace)).not.toContain('end alpha');
  }),
);

test(
  'worker stop --leave from another host returns at once, and the next worker of that host takes over the job',
  inHosts(['alpha', 'beta'], async (alpha, beta) => {
    const trace = join(alpha.directory, 'trace');
    await alpha.startWorkers();
    await beta.startWorkers('--queue', 'other');
    const { gate } = await startGated(beta, alpha.directory, 'any');
    const [worker] = (await listWorkers(beta)).filter(({ hostname }) => hostname === 'alpha');
    const left = await beta.run(['worker', 'stop', worker!.id, '--leave']);
    expect(left).toMatchObject({ code: 0, stdout: 'stopped 1 worker on host alpha\n' });
    expect(left.stderr).toMatch(
      /^note: 1 job continues without a worker on host alpha\. Start one there within [\dms ]+, or the job is stopped and runs again later\n$/,
    );
    expect((await listWorkers(beta)).map(({ hostname }) => hostname)).toEqual(['beta']);
    expect((await beta.run(['explain', 'job-any'])).stdout).toContain(
      'on host alpha, but its worker is gone',
    );
    await alpha.startWorkers();
    await until(
      async () => (await listWorkers(beta)).some(({ current_jobs }) => current_jobs.includes('job-any')),
      'the job is taken over',
    );
    writeFileSync(gate, '');
    expect(await untilState(beta, 'job-any', 'completed')).toMatchObject({ crashes: 0 });
    expect(lines(trace)).toEqual(['start any', 'end any']);
  }),
);

test(
  'jobs of another host are suspended, continued, interrupted and cancelled',
  inHosts(['alpha', 'beta'], async (alpha, beta) => {
    const trace = join(alpha.directory, 'trace');
    const pidFile = join(alpha.directory, 'pid');
    // On a busy machine, the command may need long to handle its signal.
    await configure(alpha, { 'kill-grace': '1m' });
    await alpha.startWorkers();
    const command = `echo $$ >${pidFile}; trap 'echo got INT >>${trace}; exit 9' INT
      echo begun | tee -a ${trace}; while :; do sleep 0.02; done`;
    await enqueue(beta, 'loop', command, { max_retries: 1 });
    await until(() => lines(trace).includes('begun'), 'the job runs');
    const isSuspended = (): boolean => isStopped(Number(lines(pidFile)[0]));
    expect((await beta.run(['show', 'loop'])).stdout).toContain('host\talpha');
    expect((await beta.run(['suspend', 'loop'])).code).toBe(0);
    await until(isSuspended, 'the job is suspended');
    expect((await beta.run(['continue', 'loop'])).code).toBe(0);
    await until(() => !isSuspended(), 'the job continues');
    expect((await beta.run(['cancel', 'loop', '--signal', 'INT'])).code).toBe(0);
    expect(await beta.json(['show', 'loop'])).toMatchObject({ state: 'cancelled' });
    expect((await beta.run(['show', 'loop'])).stdout).toContain('host\talpha');
    expect(lines(trace)).toEqual(['begun', 'got INT']);
    expect(existsSync(`/proc/${lines(pidFile)[0]}`)).toBe(false);

    const run = beta.start(['run', '--max-retries', '1', '--', 'sh', '-c', command]);
    // It prints this output only after it has begun to forward signals.
    await until(() => run.stdout().includes('begun'), 'the second job runs');
    process.kill(run.pid, 'SIGINT');
    expect(await run.closed).toBe(9);
    expect(lines(trace).slice(2)).toEqual(['begun', 'got INT']);
  }),
);

test(
  'cancel prints which host it waits for, and for how long at most',
  inHosts(['alpha', 'beta'], async (alpha, beta) => {
    await configure(alpha, { 'kill-grace': '4s' });
    await alpha.startWorkers('--concurrency', '2');
    const started = (id: string): string => join(alpha.directory, `started-${id}`);
    for (const id of ['one', 'two']) {
      await enqueue(beta, id, `trap '' TERM; touch ${started(id)}; while :; do sleep 0.05; done`);
      await until(() => existsSync(started(id)), `${id} runs`);
    }
    const [loud, silent] = await Promise.all([
      beta.run(['cancel', 'one']),
      beta.run(['cancel', 'two', '--json']),
    ]);
    expect(loud).toMatchObject({ code: 0, stdout: 'one\n' });
    expect(loud.stderr).toMatch(
      /^note: waiting for host alpha to stop job one\. If the host sends no heartbeat, this takes at most [\dms ]+\n$/,
    );
    expect(silent).toMatchObject({ code: 0, stderr: '' });
  }),
);

test(
  'cancel prints the end of the present lease of a host, also after the setting was shortened',
  inHosts(['alpha', 'beta'], (alpha, beta) =>
    whileFrozen(alpha, beta, async (proceed) => {
      const cancelling = beta.start(['cancel', 'job-any']);
      await until(() => /this takes at most (1h|59m)/.test(cancelling.output()), 'cancel tells the time');
      proceed();
      expect(await cancelling.closed).toBe(0);
    }),
  ),
);

test(
  'commands report that a host sends no heartbeats, and continue when it does',
  inHosts(['alpha', 'beta'], (alpha, beta) =>
    whileFrozen(alpha, beta, async (proceed, gate) => {
      const explained = async () => (await beta.run(['explain', 'job-any'])).stdout;
      await until(
        async () => /^host alpha has sent no heartbeat since .*Z; if none comes/m.test(await explained()),
        'the heartbeat is late',
      );
      const suspended = await beta.run(['suspend', 'job-any']);
      expect(suspended.stderr).toMatch(
        /^note: host alpha has sent no heartbeat for .*s; its jobs get the signal when it is back\n$/,
      );
      expect((await beta.run(['continue', 'job-any', '--quiet'])).stderr).toBe('');
      const waiting = beta.start(['wait', 'job-any']);
      const stopping = beta.start(['worker', 'stop']);
      await until(() => waiting.output().includes('has sent no heartbeat since'), 'wait warns');
      await until(
        () => /has sent no heartbeat for .*s; waiting for at most 5\dm/.test(stopping.output()),
        'worker stop notes it',
      );
      proceed();
      writeFileSync(gate, '');
      expect([await waiting.closed, await stopping.closed]).toEqual([0, 0]);
      expect(waiting.output().split('has sent no heartbeat')).toHaveLength(2);
      expect(stopping.output().split('has sent no heartbeat')).toHaveLength(2);
    }),
  ),
);

test(
  'the job of a dead host is cancelled from another one, and a stop does not wait for that host',
  inHosts(['alpha', 'beta'], async (alpha, beta) => {
    const trace = join(alpha.directory, 'trace');
    await configure(alpha, { 'heartbeat-interval': '300ms', 'kill-grace': '500ms', lease: '4s' });
    const supervisor = await alpha.startWorkers();
    // Without the cancel, the loss of its attempt would make this job dead.
    await startGated(beta, alpha.directory, 'any', { at_most_once: true });
    // The worker dies with its host after the cancel was stored, and so do the processes of the job.
    process.kill(supervisor.pid, 'SIGSTOP');
    const [worker] = await listWorkers(beta);
    expect(worker).toMatchObject({ hostname: 'alpha' });
    await killHost(alpha, supervisor.pid);
    const cancelled = await beta.run(['cancel', 'job-any']);
    expect(cancelled).toMatchObject({ code: 0 });
    expect(await beta.json(['show', 'job-any'])).toMatchObject({ state: 'cancelled' });
    expect(lines(trace)).toEqual(['start any']);
    await until(async () => (await listWorkers(beta)).length === 0, 'the lease is over');
    expect(await beta.run(['worker', 'stop', '--host', 'alpha'])).toMatchObject({
      code: 0,
      stdout: 'host alpha has no lease now; its workers stop when they reach the queue again\n',
    });
    expect(await beta.run(['worker', 'stop'])).toMatchObject({
      code: 0,
      stdout: 'no workers were running\n',
    });
  }),
);
