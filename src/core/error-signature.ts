const MAX_LENGTH = 200;

/**
 * Returns the first line of an error that is not blank, cut to MAX_LENGTH. Ids, durations, times, paths, quoted words and numbers
 * other than exit codes are replaced by `…`. Errors with the same signature form one group.
 */
export function errorSignature(error: string): string {
  const line = error.split('\n').find((one) => one.trim() !== '') ?? '';
  const text = line
    .slice(0, 4 * MAX_LENGTH)
    .replace(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/gi, '…')
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g, '…')
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, '…')
    .replace(/(^|[\s(=:])(~?\/[^\s:,)]+)/g, '$1…')
    .replace(/\b\d+(?:\.\d+)?(?:ms|[smhd])(?: ?\d+(?:ms|[smhd]))*\b/g, '…')
    .replace(/\b0x[\da-f]+\b|\b(?=[a-f]*\d)[\da-f]{8,}\b/gi, '…')
    // An exit code stays, because errors with different codes have different causes.
    .replace(/(exit(?:ed)?(?: with)?(?: code| status)? )(\d{1,3})\b|\d+(?:[.,]\d+)*/gi, (all, exit) =>
      exit === undefined ? '…' : all,
    )
    .replace(/\s+/g, ' ')
    .replace(/…(?:[\s,:]{0,2}…)+/g, '…')
    .trim();
  return text === '' ? 'no error message' : text.slice(0, MAX_LENGTH);
}
