import type { Socket } from 'node:net';

/** Maximum time to wait for a client to read an error response and disconnect, in milliseconds. */
const LINGER_MS = 1000;

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'HTTP Version Not Supported',
};

/** Formats the error response for a connection on which no request could be read. @param text body, ASCII only. */
export function refusal(status: number, text = ''): string {
  const type = text === '' ? '' : 'Content-Type: text/plain\r\n';
  const head = `HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\n${type}`;
  return `${head}Content-Length: ${text.length}\r\n\r\n${text}`;
}

/**
 * Closes a connection whose client may still be sending. Closing it immediately would make the operating system discard
 * an unread response, so remaining input is read and discarded until the client disconnects or its time is up.
 */
export function endPolitely(socket: Socket): void {
  if (socket.destroyed) return;
  socket.end();
  if (socket.readableEnded) {
    socket.destroySoon();
    return;
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('end', () => socket.destroy());
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
