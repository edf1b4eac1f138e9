import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { FIRST_VERSION } from '../../src/store/schema/version.ts';
import { type Patch, patchedProgram } from '../faults/patched-source.ts';
import { openDatabase } from '../support/database.ts';
import { type Sandbox, sandbox } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

const ROOT = resolve(import.meta.dir, '../..');

/** Adds two rows to the table of job fields: one with a column of its own, and one that shares a column. */
const FIELD_ROWS: Patch = {
  file: 'core/jobs/job-fields.ts',
  from: "  ...section('Output', {\n",
  to: `  ...section('Output', {
    mood: {
      spellings: ['temper'],
      type: text,
      read: read.checked((value) => value),
      default: null,
      edit: true,
      flag: '--mood WORD  mood of the job',
      show: 'mood',
    },
    polite: {
      type: boolean,
      read: read.switchedOn,
      default: false,
      column: 'start',
      flag: '--polite  ask first',
      show: 'polite',
    },
`,
};

const TYPES_PROGRAM = `
import type { EnqueueInput, JobObject } from './index.ts';
export const given: EnqueueInput = { command: 'true', mood: 'good', polite: true };
// @ts-expect-error: the mood is a string.
export const wrong: EnqueueInput = { command: 'true', mood: 5 };
export const printed = ({ mood, polite }: JobObject): [string | null, boolean] => [mood, polite];
`;

interface PrintedJob {
  id: string;
  mood: string | null;
  polite: boolean;
}

test('one row in the table of job fields and a migration are enough to add a field', () =>
  inTempDir(async (directory) => {
    const program = patchedProgram(directory, [FIELD_ROWS]);
    const source = join(directory, 'patched');
    const boxes = [sandbox([], program), sandbox([], program)] as const;
    try {
      for (const box of boxes) await createMigratedStore(box, source);
      await checkEnqueue(boxes[0]);
      await checkShowAndEdit(boxes[0]);
      await checkExportAndImport(...boxes);
      expect(await readView(boxes[1])).toEqual([{ mood: 'better', polite: 1 }]);
    } finally {
      for (const box of boxes) await box.cleanup();
    }
    await checkSchemas(source);
    checkTypes(source);
  }));

/** Creates a store with the built executable, and then adds the new column and views as a migration would. */
async function createMigratedStore(box: Sandbox, source: string): Promise<void> {
  const old = spawnSync(join(ROOT, 'dist/queuectl'), ['config', 'set', 'max-retries', '3'], {
    env: { ...process.env, QUEUECTL_HOME: box.home },
  });
  expect(old.status).toBe(0);
  const { statementsFrom } = await import(join(source, 'src/store/schema/migrations.ts'));
  const { SQLITE_SCHEMA } = await import(join(source, 'src/store/sqlite/schema.ts'));
  const migration = { sql: 'ALTER TABLE job ADD COLUMN mood TEXT', keepsPrograms: false };
  const db = openDatabase(join(box.home, 'queue.db'));
  for (const sql of statementsFrom(FIRST_VERSION, SQLITE_SCHEMA, [migration])) db.exec(sql);
  db.close();
}

async function readView(box: Sandbox): Promise<unknown[]> {
  const db = openDatabase(join(box.home, 'queue.db'));
  try {
    return db
      .prepare("SELECT mood, polite FROM jobs WHERE id = 'by-flag'")
      .all()
      .map((row) => ({ ...row }));
  } finally {
    db.close();
  }
}

const show = (box: Sandbox, id: string): Promise<PrintedJob> => box.json<PrintedJob>(['show', id]);

async function checkEnqueue(box: Sandbox): Promise<void> {
  const { stdout } = await box.run(['help', 'enqueue']);
  expect(stdout).toMatch(/--mood WORD +mood of the job/);
  expect(stdout).toMatch(/--polite +ask first/);
  await box.run(['enqueue', '--id', 'by-flag', '--mood', 'good', '--polite', 'true']);
  expect(await show(box, 'by-flag')).toMatchObject({ mood: 'good', polite: true });
  await box.run(['enqueue', '{"id":"by-json","command":"true","temper":"bad"}']);
  expect(await show(box, 'by-json')).toMatchObject({ mood: 'bad', polite: false });
  // A batch is inserted by a shorter statement, unless one of its jobs sets a field that this statement leaves out.
  for (const fields of [{ mood: 'fine' }, { polite: true }]) {
    const [name] = Object.keys(fields);
    const lines = Array.from({ length: 60 }, (_, i) => ({
      id: `${name}-${i}`,
      command: 'true',
      ...(i === 7 ? fields : {}),
    }));
    writeFileSync(join(box.directory, 'jobs'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect((await box.run(['enqueue', '--file', 'jobs'])).stderr).toBe('');
    expect(await show(box, `${name}-7`)).toMatchObject({ mood: null, polite: false, ...fields });
    expect(await show(box, `${name}-8`)).toMatchObject({ mood: null, polite: false });
  }
}

async function checkShowAndEdit(box: Sandbox): Promise<void> {
  const { stdout } = await box.run(['show', 'by-flag']);
  expect(stdout).toContain('mood\tgood\n');
  expect(stdout).toContain('polite\tyes\n');
  expect(await box.json(['edit', 'by-flag', '--mood', 'better'])).toMatchObject({ changed: ['by-flag'] });
  expect(await show(box, 'by-flag')).toMatchObject({ mood: 'better' });
}

async function checkExportAndImport(box: Sandbox, other: Sandbox): Promise<void> {
  const file = join(box.directory, 'export');
  expect((await box.run(['export', file])).code).toBe(0);
  expect((await other.run(['import', file])).code).toBe(0);
  expect(await show(other, 'by-flag')).toEqual(await show(box, 'by-flag'));
}

async function checkSchemas(source: string): Promise<void> {
  const { SCHEMAS } = await import(join(source, 'src/http/schemas.ts'));
  expect(Object.keys(SCHEMAS.Job.properties)).toContain('mood');
  expect(SCHEMAS.Job.required).toContain('polite');
  expect(SCHEMAS.NewJob.properties).toMatchObject({ mood: {}, polite: {} });
  expect(SCHEMAS.JobChanges.properties).toHaveProperty('mood');
  expect(SCHEMAS.JobChanges.properties).not.toHaveProperty('polite');
}

/** Expects that the whole source compiles and that the types of the library have the fields. */
function checkTypes(source: string): void {
  writeFileSync(join(source, 'src/types-check.ts'), TYPES_PROGRAM);
  const config = { extends: join(ROOT, 'tsconfig.json'), include: ['src'] };
  writeFileSync(join(source, 'tsconfig.json'), JSON.stringify(config));
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', source], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
}
