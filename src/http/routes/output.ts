import { readOutputRange } from '../../actions/logs.ts';
import type { Stream } from '../../core/job.ts';
import { refuse } from '../problem.ts';
import { numberOf } from '../query.ts';
import { get, type Route } from '../route.ts';

const OFFSET = { min: -1e15, max: 1e15, integer: true };
const DEFAULT_LIMIT = 256 * 1024;
const LIMIT = { min: 1, max: 4 * 1024 * 1024, integer: true };
const ORDINAL = { min: 1, max: 1e9, integer: true };

const ANSWER_HEADERS = {
  'queuectl-attempt': 'number of the attempt; 0 if the job has not run yet',
  'queuectl-from': 'offset of the first byte',
  'queuectl-next': 'offset to continue from',
  'queuectl-size': 'size of the output so far, in bytes',
  'queuectl-over': 'true if the attempt has ended and the output is complete',
  'queuectl-truncated': 'true if the output exceeded its limit and the middle was dropped',
};

export const OUTPUT_ROUTES: Route[] = [
  get('/api/v1/jobs/{id}/output', {
    summary: 'Read a byte range of the output of an attempt (the queuectl-* headers give its position)',
    query: {
      attempt: 'number of the attempt (default: the last one)',
      from: 'offset of the first byte; a negative offset counts from the end (default: 0)',
      limit: 'maximum number of bytes, up to 4194304 (default: 262144)',
      stream: 'stdout or stderr, for a job with split output (default: stdout)',
    },
    answers: { 200: { description: 'the bytes', schema: null, type: 'text/plain', headers: ANSWER_HEADERS } },
    async handle({ app, params, one }) {
      const found = await readOutputRange(app, params.id!, {
        ordinal: numberOf(one, 'attempt', ORDINAL, null),
        from: numberOf(one, 'from', OFFSET, 0),
        maxBytes: numberOf(one, 'limit', LIMIT, DEFAULT_LIMIT),
        stream: streamOf(one('stream')),
      });
      return new Response(found.bytes as Uint8Array<ArrayBuffer>, {
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          // A browser may show the output in spite of content-disposition, so the sandbox is needed, too.
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
          'content-disposition': 'attachment; filename="output.log"',
          'queuectl-attempt': String(found.attempt?.ordinal ?? 0),
          'queuectl-from': String(found.from),
          'queuectl-next': String(found.next),
          'queuectl-size': String(found.size),
          'queuectl-over': String(found.attempt !== null && found.attempt.finishedAt !== null),
          'queuectl-truncated': String(found.attempt?.truncated ?? false),
        },
      });
    },
  }),
];

function streamOf(text: string | undefined): Stream | null {
  if (text === undefined || text === 'stdout' || text === 'stderr') return text ?? null;
  return refuse('invalid-value', `stream must be stdout or stderr, not '${text}'`);
}
