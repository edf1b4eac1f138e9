import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
/** Replaces the boot id with the content of the file $0 and executes the other arguments. */
const WITH_BOOT_ID = `mount --bind "$0" ${BOOT_ID} && exec "$@"`;
const wordsFor = (file: string): string[] => ['unshare', '-m', 'sh', '-c', WITH_BOOT_ID, file];

/** Tells whether commands can run in another boot. They need mount namespaces. */
export function canFakeBoots(): boolean {
  const [program, ...args] = wordsFor('/etc/hostname');
  return spawnSync(program!, [...args, 'true']).status === 0;
}

/** Returns the first words of commands that see a new boot id, as after a reboot or on another machine. */
export function newBoot(directory: string): string[] {
  const boot = randomUUID();
  const file = join(directory, `boot-${boot}`);
  writeFileSync(file, `${boot}\n`);
  return wordsFor(file);
}
