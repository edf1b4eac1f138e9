import { expect } from 'bun:test';
import { closeSync, copyFileSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue } from '../support/queuectl.ts';
import { dbPathOf, idsIn } from '../support/replaced-store.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const PAGE_SIZE = 4096;

test('restore replaces a store, whichever of its pages is damaged', async (box) => {
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
});
