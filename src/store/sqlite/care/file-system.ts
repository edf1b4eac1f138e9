import { statfsSync } from 'node:fs';

/** Returns the name of the file system of a directory if SQLite is not safe on it, or null. `type` is the kernel's number for it. What is behind FUSE is unknown. */
export function networkFileSystemOf(
  directory: string,
  type = Number(statfsSync(directory).type) >>> 0,
): string | null {
  switch (type) {
    case 26985:
      return 'NFS';
    case 20859:
      return 'SMB';
    case 4283649346:
      return 'CIFS';
    case 4266872130:
      return 'SMB2';
    case 16914839:
      return '9p';
    case 1702057286:
      return 'FUSE';
    default:
      return null;
  }
}

function localName(type: number): string | null {
  switch (type) {
    case 61267:
      return 'ext4';
    case 16914836:
      return 'tmpfs';
    case 1481003842:
      return 'xfs';
    case 2435016766:
      return 'btrfs';
    case 2035054128:
      return 'overlay';
    case 801189825:
      return 'zfs';
    default:
      return null;
  }
}

/** Returns the name of a file system, or null if it is unknown, and whether it is a network file system. */
export function fileSystemOf(directory: string): { name: string | null; isNetwork: boolean } {
  const type = Number(statfsSync(directory).type) >>> 0;
  const network = networkFileSystemOf(directory, type);
  return { name: network ?? localName(type), isNetwork: network !== null };
}
