import { expect, test as plainTest } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox, lines, type Sandbox, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const JOB_COUNT = 100_000;

/** Writes a file of JSON lines and returns its path. If `badLine` is given, the line with that number is invalid. */
function writeJobFile(box: Sandbox, badLine?: number): string {
  const file = join(box.directory, 'jobs.jsonl');
  const line = (i: number) =>
    i + 1 === badLine ? '{"command":5}' : JSON.stringify({ id: `j${i}`, command: `echo ${i}` });
  writeFileSync(file, Array.from({ length: JOB_COUNT }, (_, i) => `${line(i)}\n`).join(''));
  return file;
}

async function pendingCount(box: Sandbox): Promise<number> {
  return (await box.json<{ jobs: { pending: number } }>(['status'])).jobs.pending;
}

test('100,000 JSON lines are stored in order, and all are refused if one of them is invalid', async (box) => {
  await box.create();
  expectRefusal(
    await box.run(['enqueue', '--quiet', '--file', writeJobFile(box, 99_999)]),
    2,
    /line 99999: command must be/,
  );
  expect(await pendingCount(box)).toBe(0);
  const added = await box.run(['enqueue', '--file', writeJobFile(box)]);
  const errors = added.stderr.replaceAll(/^enqueuing .*\n/gm, '');
  expect({ code: added.code, errors }).toEqual({ code: 0, errors: '' });
  expect(added.stdout.split('\n').slice(0, -1)).toEqual(Array.from({ length: JOB_COUNT }, (_, i) => `j${i}`));
  expect(await pendingCount(box)).toBe(JOB_COUNT);
  const [last] = await box.json<{ id: string }[]>(['list', '--limit', '1']);
  expect(last!.id).toBe(`j${JOB_COUNT - 1}`);
  expectRefusal(
    await box.run(['enqueue', '--file', '-'], { stdin: 'true\n{"id":"j7","command":"x"}\n' }),
    4,
    /'j7'/,
  );
  expect(await pendingCount(box)).toBe(JOB_COUNT);
});

/** Returns the highest memory use of a process so far, or 0 if it has ended. */
function peakMemoryMiB(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

test('the process that enqueues 100,000 jobs needs less than 150 MiB of memory', async (box) => {
  const { pid, exit } = box.start(['enqueue', '--quiet', '--file', writeJobFile(box)]);
  let peakMiB = 0;
  let ended = false;
  void exit.then(() => {
    ended = true;
  });
  // The kernel also reports a peak when a process ends, but that one includes the memory of the parent process.
  await until(() => {
    peakMiB = Math.max(peakMiB, peakMemoryMiB(pid));
    return ended;
  }, 'all jobs are enqueued');
  expect(await exit).toBe(0);
  expect(peakMiB).toBeGreaterThan(20);
  expect(peakMiB).toBeLessThan(150);
});

test('invalid input for enqueue --file or --template does not create a store', async (box) => {
  expectRefusal(await box.run(['enqueue', '--file', '-'], { stdin: 'true\n{"command":5}\n' }), 2, /line 2/);
  expectRefusal(await box.run(['enqueue', '--file', '-'], { stdin: '\n# nothing\n' }), 2, /no job/);
  expectRefusal(
    await box.run(['enqueue', '--file', '-', '--template', 'echo'], { stdin: 'a\n' }),
    2,
    /does not contain \{\}/,
  );
  expectRefusal(
    await box.run(['enqueue', '--file', '-', '--template', 'echo "{}"'], { stdin: 'a\n' }),
    2,
    /outside quotes/,
  );
  expectRefusal(await box.run(['enqueue', '--template', 'echo {}', 'a']), 2, /--template requires/);
  for (const [bytes, line] of [
    ['\\377', 1],
    ['ok\\n\\303\\244\\nx \\303(\\nok\\n', 3],
    ['ok\\nhalf a character: \\303', 2],
  ] as const) {
    const result = await box.run([], {
      through: ['sh', '-c', `printf '${bytes}' | "$0" enqueue --file -`],
    });
    expectRefusal(result, 2, new RegExp(`standard input is not valid UTF-8 text on line ${line}$`));
  }
  expect(existsSync(box.home)).toBe(false);
});

test('enqueue --file reads an array, JSON lines, multi-line JSON and CRLF lines, and --json prints one array', async (box) => {
  const texts = [
    '[{"id":"a1","command":"x"},{"id":"a2","command":"y"}]',
    '{"id":"b1","command":"x"}\n{"id":"b2","command":"y"}\n',
    '{\n"id":"c1",\n"command":"x"\n}\n{\n"id":"c2",\n"command":"y"\n}\n',
    '\uFEFF{"id":"d1","command":"x"}\r\n{"id":"d2","command":"y"}\r\n',
  ];
  for (const [i, text] of texts.entries()) {
    const ids = [1, 2].map((n) => `${'abcd'[i]}${n}`);
    // The JSON lines are read from a process substitution, and the other texts from stdin.
    const script = ['bash', '-c', `"$0" "$@" --file <(cat)`];
    const options = i === 1 ? { stdin: text, through: script } : { stdin: text };
    const args = i === 1 ? ['enqueue', '--json'] : ['enqueue', '--json', '--file', '-'];
    const added = await box.run(args, options);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(added.stdout).map((job: { id: string }) => job.id)).toEqual(ids);
  }
  const withQueue = await box.run(['enqueue', '--file', '-', '--queue', 'q', '--json'], {
    stdin: 'true\nfalse\n',
  });
  expect(JSON.parse(withQueue.stdout)).toMatchObject([
    { command: 'true', queue: 'q' },
    { command: 'false', queue: 'q' },
  ]);
  expectRefusal(
    await box.run(['enqueue', '--file', '-', '--id', 'x'], { stdin: 'a\nb\n' }),
    2,
    /--id cannot be used/,
  );
  expectRefusal(await box.run(['enqueue', '--file', '-'], { stdin: 'a\n\u0000' }), 2, /line 2: .*NUL/);
});

test('a template runs once for each line, whatever the line contains', async (box) => {
  const names = [
    "it's",
    '$(touch canary)',
    '; touch canary',
    'two words',
    '`touch canary`',
    '# x',
    '{"command":1}',
  ];
  const added = await box.run(['enqueue', '--file', '-', '--template', 'printf "%s\\n" {} >>out'], {
    stdin: `${names.join('\n')}\n`,
  });
  expect(added.code).toBe(0);
  expect(await box.start(['worker', 'start', '--drain', '--quiet']).exit).toBe(0);
  expect(lines(join(box.directory, 'out')).sort()).toEqual([...names].sort());
  expect(existsSync(join(box.directory, 'canary'))).toBe(false);
});

test('only the first five of many similar warnings are shown, and the others are counted', async (box) => {
  const stdin = '{"command":"true","quue":"x"}\n'.repeat(1000);
  const { code, stderr } = await box.run(['enqueue', '--file', '-'], { stdin });
  expect(code).toBe(0);
  const warnings = stderr.trimEnd().split('\n');
  expect(warnings).toHaveLength(6);
  expect(warnings[0]).toContain("line 1: unknown field 'quue'");
  expect(warnings[5]).toContain('995 similar warnings not shown');
});

plainTest.skipIf(Bun.which('script') === null)(
  'enqueue shows its progress on a terminal and erases it at the end',
  inSandbox(async (box) => {
    const file = writeJobFile(box);
    const terminal = await box.run([], {
      through: ['sh', '-c', `exec script -qec "'$0' enqueue --file '${file}' >ids" /dev/null`],
    });
    expect(terminal.code).toBe(0);
    expect(terminal.stdout).toMatch(/\renqueuing [\d,]+ jobs, <?\d+%\x1b\[K/);
    expect(terminal.stdout.replace(/note: .*\r\n/g, '')).toEndWith('\r\x1b[K');
    expect(lines(join(box.directory, 'ids'))).toHaveLength(JOB_COUNT);
  }),
);

test('a file name that begins with - works after -- in a template, as the help shows', async (box) => {
  writeFileSync(join(box.directory, '-n'), 'content\n');
  await box.run(['enqueue', '--file', '-', '--template', 'cat -- {} >out'], { stdin: '-n\n' });
  expect(await box.start(['worker', 'start', '--drain', '--quiet']).exit).toBe(0);
  expect(lines(join(box.directory, 'out'))).toEqual(['content']);
  expect((await box.run(['enqueue', '--help'])).stdout).toContain('gzip -- {}');
});
