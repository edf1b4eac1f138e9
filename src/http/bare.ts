import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SAFE_HEADERS } from './guard.ts';

/** An answer to what was never a request: there is no route to give one. */
export function bareAnswer(status: number, says: string): string {
  const headers = {
    ...{ ...SAFE_HEADERS, 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8' },
    ...{ 'content-length': says.length + 1, connection: 'close' },
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${says}\n`;
}

const STATUSES: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** What the parser refuses is answered as safely as anything else. */
export function answerNonsense(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return void socket.destroy();
    const status = STATUSES[error.code ?? ''] ?? 400;
    socket.end(bareAnswer(status, STATUS_CODES[status]!), () => socket.destroy());
  });
  server.on('connect', (_request, socket: Socket) => socket.end(bareAnswer(405, STATUS_CODES[405]!)));
}
