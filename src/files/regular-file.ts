import { closeSync, constants, fstatSync, openSync } from 'node:fs';

const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/**
 * Opens a file only if it is one, and this user's: no link, no pipe that would be waited for, no device, nothing of somebody
 * else (root may). What stands in an attempt's directory is under the command's hands, too.
 */
export function openRegular(path: string, flags = constants.O_RDONLY): number | 'absent' | 'odd' {
  let file: number;
  try {
    file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : 'odd';
  }
  const stat = fstatSync(file);
  const uid = process.getuid?.();
  if (stat.isFile() && (uid === undefined || uid === 0 || stat.uid === uid)) return file;
  closeSync(file);
  return 'odd';
}
