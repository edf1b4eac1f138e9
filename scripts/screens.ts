/**
 * Writes docs/screens.md, which shows status, list, show and top. The output is captured from the built executable, on
 * terminals of two sizes, with a small store that is busy. Run it after a build: npx bun scripts/screens.ts
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const EXECUTABLE = resolve('dist/queuectl');
const TERMINAL = resolve('test/support/terminal.py');
const SIZES = [
  { columns: 80, rows: 30 },
  { columns: 140, rows: 30 },
];
/** Jobs are enqueued for this many seconds before the capture, so that the sparkline has points. */
const BUSY_SECONDS = 20;

const directory = mkdtempSync(join(tmpdir(), 'queuectl-screens-'));
const env = {
  ...{ PATH: process.env.PATH!, HOME: directory, USER: 'ana', QUEUECTL_DB: 'queue.db', NO_COLOR: '1' },
  ...{ TERM: 'xterm', LANG: 'C.UTF-8' },
};

function queuectl(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(EXECUTABLE, args, { cwd: directory, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`queuectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function capture({ columns, rows }: { columns: number; rows: number }, args: string[]): string {
  const command = [TERMINAL, String(rows), String(columns), EXECUTABLE, ...args];
  const { status, stdout } = spawnSync('python3', command, {
    cwd: directory,
    env,
    encoding: 'utf8',
    input: '',
  });
  if (status !== 0) throw new Error(`queuectl ${args.join(' ')}: ${stdout}`);
  return stdout.replaceAll('\r\n', '\n').trimEnd();
}

const pause = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

function addJob(id: string, command: string, moreFields: Record<string, unknown> = {}): void {
  queuectl('enqueue', JSON.stringify({ id, command, cwd: '/opt', ...moreFields }));
}

async function fillStore(): Promise<void> {
  queuectl('config', 'set', 'backoff-base', '4');
  queuectl('queue', 'set', 'mail', '--concurrency', '1', '--rate', '10/s');
  queuectl('queue', 'set', 'reports', '--concurrency', '4');
  queuectl('queue', 'pause', 'reports');
  addJob('backup-db', 'echo "s3: bucket backups does not exist" >&2; exit 3', { max_retries: 2 });
  addJob('encode-7', 'for i in $(seq 900); do echo frame $i; sleep 1; done', {
    timeout: 1800,
    priority: 10,
  });
  addJob('sync-crm', 'echo 412 contacts; sleep 600');
  addJob('report-monthly', 'make -C reports monthly', { queue: 'reports' });
  addJob('newsletter', 'send --list all --body newsletter-42.html', { queue: 'mail', delay: '2h' });
  addJob('mail-1001', 'sleep 300; : send --to ana@example.org', { queue: 'mail' });
  addJob('mail-1002', 'sleep 300; : send --to bo@example.org', { queue: 'mail' });
  for (let i = 1; i <= BUSY_SECONDS * 2; i++) {
    addJob(
      `thumb-${i}`,
      i % 9 === 0 ? 'echo "unsupported format: HEIC" >&2; exit 1' : `convert ${i}.jpg 2>&- || :`,
      {
        max_retries: 1,
      },
    );
    await pause(0.5);
  }
  addJob('import-orders', 'echo "orders.csv: line 88: unexpected end of quoted field" >&2; exit 65', {
    max_retries: 3,
    backoff_base: 40,
  });
  addJob('日次集計', 'echo 集計を始めます; sleep 300', { priority: 5 });
  await pause(2);
}

async function main(): Promise<void> {
  const workers = spawn(EXECUTABLE, ['worker', 'start', '--count', '2', '--concurrency', '2'], {
    ...{ cwd: directory, env, stdio: 'ignore' },
  });
  const ended = new Promise((done) => workers.once('exit', done));
  try {
    await fillStore();
    const blocks = [];
    for (const [args, what] of [
      [['status'], '`status` shows the number of jobs in each state and the active workers.'],
      [
        ['list', '--limit', '12'],
        '`list` shows the newest jobs first. Waiting jobs show why they are not running.',
      ],
      [['show', 'backup-db'], '`show` shows one job with all its attempts.'],
      [
        ['top', '--once'],
        '`top` is a live screen. Press `?` to see its keys. `--once` prints the screen a single time and exits.',
      ],
    ] as const) {
      blocks.push(`## ${args[0]}\n\n${what}\n`);
      for (const size of SIZES)
        blocks.push(
          `\`queuectl ${args.join(' ')}\`, ${size.columns} columns:\n\n\`\`\`text\n${capture(size, [...args])}\n\`\`\`\n`,
        );
    }
    const head =
      '# Screens\n\nThis page shows real output on terminals with 80 and 140 columns, without colors. `scripts/screens.ts` captures it.\n';
    writeFileSync('docs/screens.md', `${[head, ...blocks].join('\n')}`);
  } finally {
    workers.kill('SIGTERM');
    workers.kill('SIGTERM');
    spawnSync(EXECUTABLE, ['worker', 'stop', '--force', '--timeout', '20s'], { cwd: directory, env });
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
