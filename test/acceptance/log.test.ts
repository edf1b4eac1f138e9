import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { serve } from '../support/http.ts';
import { enqueue, type Sandbox, until } from '../support/queuectl.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

/** The pruner folds the log, too, but not so soon. */
const LIMIT_MS = 8000;

/** Waits until nothing is in the log, without any command that would fold it. */
async function untilFolded(box: Sandbox): Promise<void> {
  const db = new DatabaseSync(join(box.home, 'queue.db'), { readOnly: true });
  try {
    await until(
      () => db.prepare('SELECT 1 FROM log').get() === undefined && db.prepare('SELECT 1 FROM event').get(),
      'the log is folded',
      LIMIT_MS,
    );
  } finally {
    db.close();
  }
}

test('a server folds the log after its changes', async (box) => {
  const site = await serve(box);
  await site.call('POST', '/api/v1/jobs', { body: { command: 'true' } });
  await untilFolded(box);
});

test('a worker folds the log after its changes', async (box) => {
  await enqueue(box, 'a', 'true');
  await box.startWorkers();
  await untilFolded(box);
});

test('a stream of jobs folds the log while it is open', async (box) => {
  const stream = box.start(['enqueue', '--file', '-', '--stream'], { keepStdinOpen: true });
  stream.child.stdin!.write('true\n');
  await until(() => stream.stdout() !== '', 'the job is stored');
  await untilFolded(box);
});
