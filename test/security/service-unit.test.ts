import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inTempDir } from '../support/temp-dir.ts';

const UNIT = readFileSync('contrib/queuectl.service', 'utf8');

test('the unit confines workers and their jobs', () => {
  for (const line of [
    'User=queuectl',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'CapabilityBoundingSet=',
  ])
    expect(UNIT.split('\n')).toContain(line);
});

test.skipIf(Bun.which('systemd-analyze') === null)('systemd finds nothing wrong with the unit', () =>
  inTempDir(async (directory) => {
    const file = join(directory, 'queuectl.service');
    writeFileSync(file, UNIT.replace('/usr/local/bin/queuectl', '/bin/true'));
    const { exitCode, stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', file]);
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
  }),
);
