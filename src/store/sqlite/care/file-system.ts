import { statfsSync } from 'node:fs';

/** File systems on which SQLite is not safe, by the kernel's magic numbers. What is behind FUSE is unknown. */
const NETWORK_FILE_SYSTEMS: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9p',
  1702057286: 'FUSE',
};
const LOCAL_FILE_SYSTEMS: Record<number, string> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
  801189825: 'zfs',
};

/** Returns the name of a file system, or null if it is unknown, and whether it is a network file system. */
export function fileSystemOf(directory: string): { name: string | null; isNetwork: boolean } {
  const type = Number(statfsSync(directory).type) >>> 0;
  return {
    name: NETWORK_FILE_SYSTEMS[type] ?? LOCAL_FILE_SYSTEMS[type] ?? null,
    isNetwork: type in NETWORK_FILE_SYSTEMS,
  };
}
