import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { SAFE_HEADERS } from './guard.ts';

/** Returns the bytes of an HTTP response, for a connection without a valid request. */
export function rawAnswer(status: number, message: string): string {
  const headers = {
    ...SAFE_HEADERS,
    'cache-control': 'no-store',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': message.length + 1,
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${message}\n`;
}

const PARSER_ERROR_STATUSES: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers requests that the HTTP parser refuses, and CONNECT requests, with the same safe headers as all others. */
export function answerInvalidRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable) return void socket.destroy();
    const status = PARSER_ERROR_STATUSES[error.code ?? ''] ?? 400;
    socket.end(rawAnswer(status, STATUS_CODES[status]!), () => socket.destroy());
  });
  server.on('connect', (_request, socket: Socket) => socket.end(rawAnswer(405, STATUS_CODES[405]!)));
}
