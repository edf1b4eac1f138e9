import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { inHosts } from '../support/hosts.ts';
import { configure, lines, type Sandbox, until } from '../support/queuectl.ts';

const HOSTS = ['alpha', 'beta', 'gamma'];

/** Adds jobs with ids such as `limited-1`. Each appends its start and its end to a file. */
async function enqueueTraced(box: Sandbox, queue: string, count: number, trace: string): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => `${queue}-${i + 1}`);
  const command = (id: string): string =>
    `echo "start ${id}" >>${trace}; sleep 0.1; echo "end ${id}" >>${trace}`;
  const jobs = ids.map((id) => JSON.stringify({ id, queue, command: command(id), max_retries: 1 }));
  const added = await box.run(['enqueue', '--file', '-'], { stdin: jobs.join('\n') });
  expect(added.code).toBe(0);
  return ids;
}

/** Returns how many jobs ran at the same time at most, by their starts and ends in a file. */
function mostAtOnce(trace: string): number {
  let [running, most] = [0, 0];
  for (const line of lines(trace)) {
    running += line.startsWith('start') ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}

const untilEnded = (trace: string, count: number): Promise<unknown> =>
  until(
    () => lines(trace).filter((line) => line.startsWith('end')).length === count,
    `${count} jobs have ended`,
  );

test(
  'limits of queues and of all jobs, rates and on-idle hold once across three hosts',
  inHosts(HOSTS, async (...hosts) => {
    const [box] = hosts as [Sandbox];
    const file = (name: string): string => join(box.directory, name);
    await box.json(['queue', 'set', 'limited', '--concurrency', '2']);
    await box.json(['queue', 'set', 'slow', '--rate', '1/h']);
    await configure(box, { 'on-idle': `echo idle >>${file('idle')}` });
    await enqueueTraced(box, 'limited', 18, file('limited'));
    await enqueueTraced(box, 'slow', 9, file('slow'));
    await enqueueTraced(box, 'wide', 18, file('wide'));
    for (const queue of ['limited', 'wide', 'slow']) await box.json(['queue', 'pause', queue]);
    await Promise.all(hosts.map((host) => host.startWorkers('--count', '2', '--concurrency', '2')));

    await box.json(['queue', 'resume', 'limited']);
    await untilEnded(file('limited'), 18);
    expect(mostAtOnce(file('limited'))).toBe(2);
    await until(() => lines(file('idle')).length > 0, 'the hook on-idle has run');

    await box.json(['config', 'set', 'max-concurrent-jobs', '3']);
    await box.json(['queue', 'resume', 'wide']);
    await untilEnded(file('wide'), 18);
    expect(mostAtOnce(file('wide'))).toBeLessThanOrEqual(3);
    await box.json(['config', 'unset', 'max-concurrent-jobs']);
    await until(() => lines(file('idle')).length > 1, 'the hook on-idle has run again');

    await box.json(['queue', 'resume', 'slow']);
    await untilEnded(file('slow'), 1);
    // Workers of all hosts look for jobs once more, and find that the rate is used up.
    await enqueueTraced(box, 'other', 6, file('other'));
    await untilEnded(file('other'), 6);
    expect(lines(file('slow')).filter((line) => line.startsWith('start'))).toEqual(['start slow-1']);
    // The queue slow still has jobs that are due, so it is not idle again.
    expect(lines(file('idle'))).toEqual(['idle', 'idle']);
  }),
);

test(
  'each tick of a schedule runs once across three hosts',
  inHosts(HOSTS, async (...hosts) => {
    const [box] = hosts as [Sandbox];
    const trace = join(box.directory, 'ticks');
    await Promise.all(hosts.map((host) => host.startWorkers('--concurrency', '2')));
    const command = `echo $QUEUECTL_SCHEDULED_AT >>${trace}`;
    await box.json(['schedule', 'add', 'fast', '--every', '1s', '--overlap', 'allow', command]);
    await until(() => lines(trace).length >= 5, 'five ticks have run');
    await box.json(['schedule', 'pause', 'fast']);
    await until(
      async () => (await box.json<unknown[]>(['list', '--all'])).length === lines(trace).length,
      'every job has run',
    );
    expect(new Set(lines(trace)).size).toBe(lines(trace).length);
  }),
);
