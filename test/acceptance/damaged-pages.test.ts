import { expect, test } from 'bun:test';
import { closeSync, copyFileSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, inSandbox } from '../support/queuectl.ts';
import { dbPathOf, idsIn } from '../support/replaced-store.ts';

const PAGE_SIZE = 4096;

test(
  'restore replaces a store, whichever of its pages is damaged',
  inSandbox(async (box) => {
    const [backup, intactCopy] = [join(box.directory, 'backup.db'), join(box.directory, 'whole.db')];
    await enqueue(box, 'saved', 'true');
    await box.json(['backup', backup]);
    copyFileSync(dbPathOf(box), intactCopy);
    const pageCount = statSync(intactCopy).size / PAGE_SIZE;
    const rubbish = Buffer.alloc(PAGE_SIZE, 0xa5);
    for (let page = 0; page < pageCount; page++) {
      copyFileSync(intactCopy, dbPathOf(box));
      const file = openSync(dbPathOf(box), 'r+');
      writeSync(file, rubbish, 0, PAGE_SIZE, page * PAGE_SIZE);
      closeSync(file);
      const { code, stderr } = await box.run(['restore', '--yes', backup]);
      expect({ page, code, stderr }).toMatchObject({ code: 0 });
      expect(await idsIn(box)).toEqual(['saved']);
    }
  }),
);

for (const bytes of [0, 1])
  for (const killed of [false, true])
    test.concurrent(
      `a database file truncated to ${bytes} bytes is repaired from its WAL${killed ? ', also after a repair that was killed' : ''}`,
      inSandbox(async (box) => {
        // The process is killed before the checkpoint, so the whole new store is in its WAL.
        await box.run(['enqueue', '--id', 'acked', 'true'], { env: { QUEUECTL_CRASH_AT: 'after-insert' } });
        truncateSync(dbPathOf(box), bytes);
        if (killed) {
          const { code } = await box.run(['db', 'repair'], { env: { QUEUECTL_CRASH_AT: 'swap-cleared' } });
          expect(code).toBe(-1);
        }
        await box.run(['db', 'repair']);
        expect(await idsIn(box)).toEqual(['acked']);
      }),
    );
