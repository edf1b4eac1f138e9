const CODES = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Thrown by a link of a file of ours: the file system has none, as FAT. */
export function lacksHardLinks(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'link' && CODES.has(String(code));
}
