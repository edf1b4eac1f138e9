import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');

test('the five scenarios of scripts/test-scenarios.sh pass', () => {
  const { status, stdout, stderr } = spawnSync('sh', ['scripts/test-scenarios.sh'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) });
  expect(stdout).toEndWith('all five scenarios passed\n');
});

test('the demo shows a job that works when it is retried and a job that always fails', () => {
  const { status, stdout } = spawnSync('sh', ['scripts/demo.sh'], { cwd: ROOT, encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stdout).toContain('now it works');
  expect(stdout).toContain('cannot reach the moon');
});
