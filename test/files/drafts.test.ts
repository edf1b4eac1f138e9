import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newDraft, removeDraft, sweepDrafts } from '../../src/files/write.ts';
import { inTempDir } from '../support/temp-dir.ts';

test('a draft is removed with its directory', () =>
  inTempDir((directory) => {
    const draft = newDraft(join(directory, 'target'));
    writeFileSync(draft, 'text');
    removeDraft(draft);
    expect(existsSync(dirname(draft))).toBe(false);
  }));

test('a link in the place of a draft directory is not followed', () =>
  inTempDir((directory) => {
    const victim = join(directory, 'victim');
    mkdirSync(victim, { mode: 0o700 });
    writeFileSync(join(victim, 'key'), 'secret');
    const draft = newDraft(join(directory, 'target'));
    renameSync(dirname(draft), join(directory, 'moved'));
    symlinkSync(victim, dirname(draft));
    removeDraft(draft);
    sweepDrafts(directory);
    expect(existsSync(join(victim, 'key'))).toBe(true);
  }));
