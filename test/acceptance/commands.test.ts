/** Tests that a job runs its command as /bin/sh -c would, and its argv without a shell. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { execute, untilEnded } from '../support/execute.ts';
import { sandbox } from '../support/queuectl.ts';

const box = sandbox();

beforeAll(async () => {
  writeFileSync(join(box.directory, 'not-executable'), 'echo never');
  chmodSync(join(box.directory, 'not-executable'), 0o644);
  await box.startWorkers('--count', '2', '--concurrency', '4');
});
afterAll(() => box.cleanup());

/** Runs the command with plain /bin/sh -c, with stdout and stderr merged. */
function runWithSh(command: string): { code: number; output: string } {
  const merged = `exec 2>&1; exec /bin/sh -c "$1"`;
  const result = spawnSync('/bin/sh', ['-c', merged, 'sh', command], {
    cwd: box.directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  return { code: result.status ?? 128 + constants.signals[result.signal!], output: result.stdout };
}

const COMMANDS: Record<string, string> = {
  quotes: `echo "a 'b' \\"c\\"" 'd "e" $HOME' f\\ g "\`echo h\`" $(echo i)`,
  pipes: 'printf "3\\n1\\n2\\n" | sort -r | tr "\\n" ,; false | true && echo yes || echo no',
  newlines: '\n\necho one\n# a comment\nfor i in 1 2; do\n  echo "$i"\ndone\ncat <<X\nhere $((1+1))\nX\n',
  unicode: "echo 'żółw 🐢 \u202e日本語 e\u0301 \t|'",
  '100 kB': `echo '${'ünïcode "quoted" \\ $x\n'.repeat(4200)}' | wc -c; exit 9`,
  'no newline at the end': 'printf x',
  'exit 0': 'exit 0',
  'exit 75': 'exit 75',
  'exit 255': 'exit 255',
  'false at the end': 'echo out; echo err >&2; false',
  exec: 'echo before; exec /bin/echo replaced; echo never',
  'exec of a missing program': 'exec /no/such/program',
  'trap on exit': "trap 'echo leaving' EXIT; echo working; exit 4",
  'trap of a signal': "trap 'echo caught; exit 5' TERM; kill -TERM $$; echo never",
  'inherited traps': 'trap',
  'a signal without a trap': 'kill -TERM $$; echo never',
  'SIGINT to itself': 'kill -INT $$; echo never',
  'set -e': 'set -e; echo one; false; echo never',
  'set -u': 'set -u; echo one; echo $nothing_like_it; echo never',
  'set -C is not on': 'echo a >clobber; echo b >clobber; cat clobber',
  options: 'echo "$-|$#|$0|$*"',
  'syntax error': 'echo one; if then',
  'unclosed quote': "echo 'one",
  'not found': 'echo one; nosuchprogram-x1',
  'not executable': './not-executable',
  'a directory as program': '/tmp',
  'reading standard input': 'cat; echo "read nothing"; read line || echo eof',
  'a dash first': '-x',
  'only a comment': '# nothing to do',
  'open descriptors': 'ls /proc/self/fd | wc -l',
};

for (const [name, command] of Object.entries(COMMANDS)) {
  test.concurrent(`a job behaves as under plain sh -c: ${name}`, async () => {
    const expected = runWithSh(command);
    const { job, output } = await execute(box, { command });
    expect({ code: job.exit_code, output }).toEqual(expected);
    expect(job.command).toBe(command);
    expect(job.state).toBe(expected.code === 0 ? 'completed' : 'dead');
    expect(job.attempts).toBe(1);
  });
}

test.concurrent('a command of 100 kB given as an argument runs and is shown unchanged', async () => {
  const command = `echo '${'"ü" \\n $(x)\n'.repeat(8000)}' | wc -c`;
  expect(Buffer.byteLength(command)).toBeGreaterThan(100_000);
  const added = await box.run(['enqueue', command]);
  const { job, output } = await untilEnded(box, added.stdout.trim());
  expect(job.command).toBe(command);
  expect(output).toBe(runWithSh(command).output);
});

test.concurrent('a job killed by SIGKILL has an exit code, a signal and readable output', async () => {
  const { job, output } = await execute(box, { command: 'echo "last words"; kill -KILL $$' });
  expect(job).toMatchObject({ state: 'dead', exit_code: 137, signal: 'SIGKILL' });
  expect(output).toStartWith('last words\n');
  expect(job.last_error).toStartWith('killed by SIGKILL (exit code 137)');
});

for (const signal of ['USR1', 'USR2', 'ALRM', 'PIPE', 'HUP']) {
  test.concurrent(`a command that sends SIG${signal} to its own process group is killed by it, unless it traps the signal`, async () => {
    const trapping = await execute(box, { command: `trap : ${signal}; kill -${signal} 0; echo survived` });
    expect(trapping).toMatchObject({ job: { state: 'completed' }, output: 'survived\n' });
    const { job } = await execute(box, { command: `kill -${signal} 0; echo never` });
    expect(job).toMatchObject({ state: 'dead', signal: `SIG${signal}` });
  });
}

test.concurrent('a job with argv runs without a shell', async () => {
  const args = ['; rm -rf x', '$(id)', '*', '`id`', '$HOME', '"', "'", 'a\nb', '', '&& exit 3', '日本', '-n'];
  const added = await box.run(['enqueue', '--', 'printf', '[%s]', ...args]);
  const { job, output } = await untilEnded(box, added.stdout.trim());
  expect(output).toBe(args.map((arg) => `[${arg}]`).join(''));
  expect(job).toMatchObject({ state: 'completed', argv: ['printf', '[%s]', ...args] });
});

for (const program of ['exit', 'set', 'eval', 'trap', 'echo hello; exit 0', 'nosuchprogram-x1']) {
  test.concurrent(`a job with the argv '${program}' exits with 127, because no program has that name`, async () => {
    const { job } = await execute(box, { argv: [program, '0'] });
    expect(job).toMatchObject({ state: 'dead', exit_code: 127 });
  });
}

test.concurrent('a job with argv has the exit code or signal of the program, and 126 if it is not executable', async () => {
  expect((await execute(box, { argv: ['sh', '-c', 'exit 75'] })).job.exit_code).toBe(75);
  expect((await execute(box, { argv: ['./not-executable'] })).job.exit_code).toBe(126);
  expect((await execute(box, { argv: ['sh', '-c', 'kill -TERM $$'] })).job).toMatchObject({
    signal: 'SIGTERM',
  });
});
