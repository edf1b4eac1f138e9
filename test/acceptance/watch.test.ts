import { expect } from 'bun:test';
import { enqueue, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

const ENTER_ALTERNATE_SCREEN = '\x1b[?1049h';
const LEAVE_ALTERNATE_SCREEN = '\x1b[?1049l';

/** Returns the lines of the last screen that was drawn. */
function lastScreen(text: string): string[] {
  return text
    .split('\x1b[H')
    .at(-1)!
    .replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
    .split(/\r?\n/);
}

test('--watch on a terminal follows changes and resizes, and restores the screen at the end', async (box) => {
  await enqueue(box, 'first', 'echo a rather long command that does not fit into a narrow window at all');
  for (const command of ['list', 'status']) {
    const watching = onTerminal(box, [command, '--watch=100ms'], 24, 100);
    const screen = () => lastScreen(watching.stdout());
    const shows = (text: string) =>
      until(() => screen().some((line) => line.includes(text)), `the screen shows ${text}`);
    await shows(command === 'list' ? 'first' : 'pending');
    expect(watching.stdout()).toStartWith(ENTER_ALTERNATE_SCREEN);
    await enqueue(box, `more-${command}`, 'true');
    await shows(command === 'list' ? 'more-list' : 'pending     3');
    watching.resize(4, 50);
    await until(() => screen().length <= 4 && screen().every((line) => line.length <= 50), 'the screen fits');
    watching.interrupt();
    expect(await watching.closed).toBe(0);
    expect(watching.stdout()).toEndWith(LEAVE_ALTERNATE_SCREEN);
  }
});

test('status --watch in a pipe prints the whole status once and then only changes', async (box) => {
  const watching = box.start(['status', '--watch=100ms']);
  const wholeStatus =
    'pending\t0\nprocessing\t0\ncompleted\t0\nfailed\t0\ndead\t0\ncancelled\t0\nworkers\t0\n';
  await until(() => watching.stdout() === wholeStatus, 'the whole status is printed');
  await enqueue(box, 'one', 'true', { queue: 'nobody' });
  await until(() => watching.stdout() === `${wholeStatus}pending\t1\n`, 'the change is printed');
  const json = box.start(['status', '--watch=100ms', '--json']);
  await until(() => json.stdout().endsWith('}\n'), 'the whole status is printed');
  // Several heartbeats happen before the job is settled, but they are not printed.
  await box.json(['config', 'set', 'heartbeat-interval', '200ms']);
  await box.startWorkers('--queue', 'default');
  await enqueue(box, 'two', 'sleep 1');
  const last = () => JSON.parse(json.stdout().trimEnd().split('\n').at(-1)!);
  await until(() => last().jobs.completed === 1, 'the completed job is counted');
  const printed = json
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(printed.length).toBeLessThan(8);
  expect(printed.at(-1)).toMatchObject({ jobs: { pending: 1, completed: 1 }, total: 2 });
  process.kill(json.pid, 'SIGINT');
  expect(await json.closed).toBe(130);
});

test('list --watch in a pipe prints each job that changes or leaves the list', async (box) => {
  await enqueue(box, 'old', 'exit 1', { max_retries: 1 });
  const watching = box.start(['list', '--watch=100ms', '--json', '--state', 'pending']);
  const printedJobs = () =>
    watching
      .stdout()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const states = () => printedJobs().map((job) => (job.deleted ? [job.id, 'deleted'] : [job.id, job.state]));
  await until(() => printedJobs().length === 1, 'the job is printed');
  await enqueue(box, 'new', 'true', { queue: 'nobody' });
  await until(() => printedJobs().length === 2, 'the new job is printed');
  expect(await box.start(['worker', 'start', '--queue', 'default', '--drain']).exit).toBe(0);
  await until(
    () => states().some(([id, state]) => id === 'old' && state !== 'pending'),
    'the job that left the list is printed',
  );
  expect(states().slice(0, 2)).toEqual([
    ['old', 'pending'],
    ['new', 'pending'],
  ]);
  const deadList = box.start(['list', '--watch=100ms', '--state', 'dead']);
  await until(() => deadList.stdout().startsWith('old\tdead\t'), 'tab-separated without --json');
  await box.run(['dlq', 'purge', '--yes']);
  await until(() => deadList.stdout().endsWith('\nold\tdeleted\n'), 'the deletion is printed');
});

test('an invalid interval of --watch is refused', async (box) => {
  for (const interval of ['0', 'soon', '10ms', '2d'])
    expect((await box.run(['status', `--watch=${interval}`])).code).toBe(2);
});
