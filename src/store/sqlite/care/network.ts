import { statfsSync } from 'node:fs';

/** File systems by the kernel's magic numbers; those whose locks reach over the network are not safe for SQLite. */
const NETWORK: Record<number, string> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9p',
  1702057286: 'FUSE',
};
const LOCAL: Record<number, string> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
  801189825: 'zfs',
};

export interface FileSystem {
  /** Null: none that we know by name. */
  name: string | null;
  network: boolean;
}

export function fileSystemOf(directory: string): FileSystem {
  const type = Number(statfsSync(directory).type) >>> 0;
  return { name: NETWORK[type] ?? LOCAL[type] ?? null, network: type in NETWORK };
}
