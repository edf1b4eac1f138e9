/**
 * Runs the quick test runs, with --all every run, or those whose names contain an argument (test-runs.ts lists them). Prints a
 * line for each run, the failures and the totals. With --repeat-failed, a run that has failed is repeated once, alone, at the end. If it
 * passes then, it is reported as flaky, with the output of its failure. `bun test` alone can be falsely green: a test that exits
 * with 0 ends the run, and an endless loop is never timed out. So each file runs in its own process group with a time limit, and
 * the number of tests that ran is compared with that in the file.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres-server.ts';
import { failedTests, withoutPassedTests } from './test-failures.ts';
import { isQuick, type TestRun, testRuns } from './test-runs.ts';

const FILE_LIMIT_MS = 8 * 60_000;
const LAST_OUTPUT_MS = 5000;
const SUMMARY_LINE = /^\s*(\d+) (pass|fail|skip|filtered out)$/gm;
/** Matches `test(`, `test.concurrent(`, `test.each(` and `test.skipIf(…)(`, also in combination and over several lines, and `plainTest(`. */
const WRITTEN_TEST =
  /^\s*(?:test|(?:plain|sandbox|concurrent)Test)(?:\s*\.(?:concurrent|skipIf\((?:[^()]|\([^()]*\))*\)))*(?:\.each(?:<[^(]*>)?)?\(/gm;

interface RunResult {
  passed: number;
  failed: number;
  skipped: number;
  seconds: number;
  output: string;
}

const all = process.argv.includes('--all');
const repeatsFailed = process.argv.includes('--repeat-failed');
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map((name) => join('test', name));
const runs = testRuns(files)
  .filter((run) => {
    if (wanted.length === 0) return all || isQuick(run);
    return wanted.some((part) => run.name.includes(part));
  })
  // The acceptance tests take longest. They come first, so that none of them is still running alone at the end.
  .sort(
    (a, b) =>
      Number(b.name.includes('acceptance')) - Number(a.name.includes('acceptance')) ||
      a.name.localeCompare(b.name),
  );

function runFile({ file, store, pattern }: TestRun): Promise<RunResult> {
  return new Promise((resolve) => {
    const start = performance.now();
    const args = ['--no-install', 'test', '--timeout', '120000', `./${file}`];
    if (pattern !== null) args.push('--test-name-pattern', pattern);
    const env = { ...process.env, QUEUECTL_TEST_POSTGRES: postgres.url, QUEUECTL_TEST_STORE: store };
    const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env });
    let output = '';
    const killGroup = (): void => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // No process of the group is left.
      }
    };
    const timer = setTimeout(() => {
      output += `\nerror: ${file} did not end within ${FILE_LIMIT_MS / 60_000} minutes\n`;
      killGroup();
    }, FILE_LIMIT_MS);
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.stderr.on('data', (data) => {
      output += data;
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      killGroup();
      const seconds = (performance.now() - start) / 1000;
      const finish = (): void => resolve(readResult(file, code, output, seconds));
      // The last output may arrive after the exit. A process that the tests left behind may keep the pipes open.
      child.once('close', finish);
      setTimeout(finish, LAST_OUTPUT_MS).unref();
    });
  });
}

function readResult(file: string, code: number | null, output: string, seconds: number): RunResult {
  const counts: Record<string, number> = { pass: 0, fail: 0, skip: 0, 'filtered out': 0 };
  for (const [, number, kind] of output.matchAll(SUMMARY_LINE)) counts[kind!] = Number(number);
  const [pass, fail, skip] = [counts.pass!, counts.fail!, counts.skip!];
  // Loops can define more tests than are written. Fewer tests mean that the run was cut short.
  const written = readFileSync(file, 'utf8').match(WRITTEN_TEST)?.length ?? 0;
  const cutShort = pass + fail + skip + counts['filtered out']! < written || pass + fail + skip === 0;
  if (cutShort) output += `\nerror: ${file} has at least ${written} tests, but ${pass + fail + skip} ran\n`;
  const failed = fail + (cutShort || (code !== 0 && fail === 0) ? 1 : 0);
  return { passed: pass, failed, skipped: skip, seconds, output };
}

// All files share one PostgreSQL server. It is also stopped if the run is interrupted.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const postgres = await startPostgres();

const queue = [...runs];
const results = new Map<TestRun, RunResult>();

async function runQueuedFiles(): Promise<void> {
  for (let run = queue.shift(); run !== undefined; run = queue.shift()) await runAndReport(run, 'FAIL');
}

async function runAndReport(run: TestRun, failure: string): Promise<RunResult> {
  const result = await runFile(run);
  const verdict = result.failed === 0 ? 'ok  ' : failure;
  process.stdout.write(`${verdict} ${run.name} (${result.passed} passed, ${result.seconds.toFixed(1)} s)\n`);
  if (result.failed > 0) process.stdout.write(`${withoutPassedTests(result.output)}\n`);
  results.set(run, result);
  return result;
}

await Promise.all(Array.from({ length: Math.max(2, Math.min(4, availableParallelism())) }, runQueuedFiles));
/** The failures are repeated at the end, where a reader looks first. */
const failures: string[] = [];
for (const [run, { failed, output }] of [...results]) {
  if (failed === 0) continue;
  const isFlaky = repeatsFailed && (await runAndReport(run, 'FAIL again')).failed === 0;
  failures.push(`${isFlaky ? 'FLAKY' : 'FAIL'} ${run.name}`, ...failedTests(output));
}
await postgres.stop();
for (const line of failures) process.stdout.write(`${line}\n`);
const total = (key: 'passed' | 'failed' | 'skipped'): number =>
  results.values().reduce((sum, one) => sum + one[key], 0);
process.stdout.write(`${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped\n`);
process.exitCode = total('failed') === 0 && results.size > 0 ? 0 : 1;
