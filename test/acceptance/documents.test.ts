import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { matches, newOutput } from '../support/documents/compare.ts';
import { readPage } from '../support/documents/page.ts';
import { handwrittenPages, readPageText, runPage } from '../support/documents/run.ts';
import { inTempDir } from '../support/temp-dir.ts';

const ROOT = resolve(import.meta.dir, '../..');

for (const page of handwrittenPages()) {
  const needsCurl = readPage(readPageText(page)).steps.some(({ command }) => command.includes('curl '));
  test.skipIf(needsCurl && Bun.which('curl') === null)(
    `the commands of ${page} work and print what it shows`,
    async () => {
      expect(await runPage(page)).toEqual([]);
    },
  );
}

test('the TypeScript of the documents passes the type checker and runs', async () => {
  const programs = handwrittenPages().flatMap((page) =>
    readPage(readPageText(page)).programs.map((program) => ({ ...program, page })),
  );
  expect(programs.length).toBeGreaterThan(0);
  // The directory is inside the package, so that `import … from 'queuectl'` resolves to the package itself.
  const directory = mkdtempSync(join(ROOT, 'dist/documents-'));
  try {
    const options = { module: 'nodenext', target: 'esnext', strict: true, skipLibCheck: true };
    const compilerOptions = { ...options, noEmit: true, types: ['node'] };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const files = programs.map(({ page, line, source }) => {
      const file = join(directory, `${page.replaceAll('/', '-')}-${line}.ts`);
      writeFileSync(file, source);
      return file;
    });
    const typeCheck = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--project', directory], {
      encoding: 'utf8',
    });
    expect({ status: typeCheck.status, stdout: typeCheck.stdout }).toEqual({ status: 0, stdout: '' });
    for (const file of files) await runProgram(file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

async function runProgram(file: string): Promise<void> {
  await inTempDir((home) => {
    const env = { PATH: process.env.PATH!, HOME: home };
    const { status, stderr } = spawnSync(process.execPath, [file], {
      ...{ cwd: home, env, encoding: 'utf8', timeout: 60_000 },
    });
    expect({ file, status, stderr }).toEqual({ file, status: 0, stderr: '' });
  });
}

test('links between the documents lead to existing targets', () => {
  const broken = handwrittenPages().flatMap((page) =>
    linksOf(readPageText(page)).flatMap((link) => {
      const [path, anchor] = link.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path!));
      if (!existsSync(join(ROOT, target))) return [`${page}: ${link}`];
      return anchor === undefined || anchorsOf(readPageText(target)).includes(anchor)
        ? []
        : [`${page}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});

/** Returns the targets of the links and pictures of a page, except those on other sites. */
function linksOf(text: string): string[] {
  const targets = text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g);
  return [...targets].map(([, a, b]) => (a ?? b)!).filter((target) => !/^[a-z]+:/.test(target));
}

/** Returns the anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): string[] {
  const headings = text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every code block in the documents that is not run has a reason', () => {
  const notRun = handwrittenPages().flatMap((page) =>
    readPage(readPageText(page)).notRun.map(({ line, reason }) => `${page}:${line}: ${reason}`),
  );
  if (notRun.length > 0) console.log(`not run:\n${notRun.join('\n')}`);
  expect(notRun.every((text) => /: \w+/.test(text))).toBe(true);
});

test('readPage returns commands with expected exit codes, and refuses a block of an unknown language', () => {
  const [ok, failing, withCode, script] = readPage(
    '```console\n$ echo a \\\n  b\na b\n$ false\nerror: no\n$ x # exit code 4\n```\n\n```sh\ntrue\n```\n',
  ).steps;
  expect(ok).toMatchObject({ line: 2, command: 'echo a \\\n  b', shown: ['a b'], exit: 0 });
  expect([failing!.exit, withCode!.exit, script!.shown]).toEqual(['error', 4, null]);
  expect(() => readPage('```bash\ntrue\n```\n')).toThrow('neither run nor marked');
  expect(readPage('<!-- not run: needs sudo -->\n```sh\nsudo true\n```\n')).toMatchObject({
    steps: [],
    notRun: [{ reason: 'needs sudo' }],
  });
});

test('the comparison of output ignores ids and times, and … stands for omitted lines or text', () => {
  expect(matches(['added 1m7ey0mh3d2x7, due in 10m'], ['added 1m7fgwmd0e6ej, due in 9m 59s'])).toBe(true);
  expect(matches(['a  completed  3s ago'], ['a   completed  now'])).toBe(true);
  expect(matches(['due in 9m59s'], ['due in 9m 59s'])).toBe(false);
  expect(matches(['took 12.3s'], ['took 12s'])).toBe(false);
  expect(matches(['a', '…', 'd'], ['a', 'b', 'c', 'd'])).toBe(true);
  expect(matches(['token=…'], ['token=abc'])).toBe(true);
  expect(matches(['a long comm…  x'], ['a long…  x'])).toBe(true);
  expect(matches(['a'], ['b'])).toBe(false);
  expect(matches(['a'], ['a', 'b'])).toBe(false);
  expect(matches([], ['a'])).toBe(false);
  expect(newOutput(['x', '…', 'old word here'], ['x', 'y', 'z', 'new word here'])).toEqual([
    'x',
    '…',
    'new word here',
  ]);
});
