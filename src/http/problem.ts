import { ERRORS, type ErrorCode, QueueError } from '../core/errors.ts';

/** Returns the HTTP response for an error. */
export function problemResponse(
  error: QueueError,
  requestId: string,
  headers: Record<string, string>,
): Response {
  const { status } = ERRORS[error.code];
  const body = {
    type: 'about:blank',
    title: error.code,
    status,
    detail: error.message,
    code: error.code,
    hint: error.hint,
    request_id: requestId,
  };
  const type = { 'content-type': 'application/problem+json' };
  return new Response(JSON.stringify(body), { status, headers: { ...type, ...headers } });
}

/** Messages that replace those of store errors, because the originals contain paths, which belong in the log. */
const SAFE_MESSAGES: Partial<Record<ErrorCode, string>> = {
  'store-busy': 'the store is busy',
  'store-unavailable': 'the store is unavailable',
  'store-unreachable': 'the store is unavailable',
  'not-a-database': 'the store is unavailable',
  'store-corrupt': 'the store is damaged',
  'two-names': 'the store has two file names',
  'newer-schema': 'the store was written by a newer version of queuectl',
  'older-schema': 'the store was written by an older version of queuectl and must be upgraded first',
  'old-sqlite': 'the store cannot be used',
  'disk-full': 'the disk is full',
  'not-permitted': 'the store is not writable',
};

/** Returns an error without the details that a client must not see. The hint refers to the server log, which has them. */
export function withoutDetails(error: unknown, requestId: string): QueueError {
  const hint = `see the server log for request ${requestId}`;
  if (!(error instanceof QueueError) || error.code === 'internal')
    return new QueueError('internal', 'internal error', hint);
  const message = SAFE_MESSAGES[error.code];
  return message === undefined ? error : new QueueError(error.code, message, hint);
}

export function refuse(...error: ConstructorParameters<typeof QueueError>): never {
  throw new QueueError(...error);
}
