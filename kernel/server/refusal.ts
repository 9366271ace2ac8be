import type { Socket } from 'node:net';

/** Longest time to wait for a client to read a refusal and leave, in milliseconds. */
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

/** The answer where no request could be read. @param text its body, of ASCII. */
export function refusal(status: number, text = ''): string {
  const type = text === '' ? '' : 'Content-Type: text/plain\r\n';
  const head = `HTTP/1.1 ${status} ${reasons[status]}\r\nConnection: close\r\n${type}`;
  return `${head}Content-Length: ${text.length}\r\n\r\n${text}`;
}

/**
 * Ends a connection whose client may still be sending. Closing it at once would make the system throw away an answer
 * that was not read yet, so the rest is read and dropped until the client leaves or its time is over.
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
