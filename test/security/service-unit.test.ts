import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';

const UNIT = readFileSync('contrib/queuectl.service', 'utf8');

test('the systemd unit runs workers as a separate user with restricted privileges', () => {
  for (const line of [
    'User=queuectl',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'CapabilityBoundingSet=',
  ])
    expect(UNIT.split('\n')).toContain(line);
});

test.skipIf(Bun.which('systemd-analyze') === null)('systemd-analyze verifies the unit without warnings', () =>
  inTempDir(async (directory) => {
    const file = join(directory, 'queuectl.service');
    writeFileSync(file, UNIT.replace('/usr/local/bin/queuectl', '/bin/true'));
    const { exitCode, stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', file]);
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
  }),
);
