const CODES = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Tells whether linking one of our own files failed because the file system has no hard links, as FAT. */
export function lacksHardLinks(error: unknown): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'link' && CODES.has(String(code));
}
