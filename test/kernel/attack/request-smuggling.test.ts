import { equal, match } from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import type { AttackTarget } from '#contract';
import { Wire } from '../../../kernel/attack/wire.ts';
import { requestSmuggling } from '../../../plugins/attack/catalogue/request-smuggling.ts';

/** Responds to every request, and reads a body only if the header of a framing announces it. */
type Framing = (head: string, rest: string) => number;

const byLength: Framing = (head) => Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);

/** Obeys Transfer-Encoding also where Content-Length contradicts it. */
const byChunks: Framing = (head, rest) =>
  /transfer-encoding *:\s*chunked/i.test(head) ? rest.indexOf('0\r\n\r\n') + 5 : byLength(head, rest);

function serve(socket: Socket, framing: Framing): void {
  let received = '';
  socket.on('error', () => {});
  socket.on('data', (piece) => {
    received += piece.toString('latin1');
  });
  socket.on('end', () => {
    for (let end = received.indexOf('\r\n\r\n'); end >= 0; end = received.indexOf('\r\n\r\n')) {
      const [head, rest] = [received.slice(0, end), received.slice(end + 4)];
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      received = rest.slice(framing(head, rest));
    }
    socket.end();
  });
}

describe('request smuggling', () => {
  let server: Server;

  afterEach(() => new Promise<unknown>((resolve) => server.close(resolve)));

  async function attack(accept: (socket: Socket) => void) {
    server = createServer({ allowHalfOpen: true }, accept);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const wire = new Wire((server.address() as AddressInfo).port);
    const target = {
      baseline: { method: 'GET', target: '/', headers: [] },
      marker: 'attack1',
      write: async (bytes: string) => ({ ...(await wire.write(bytes)), calls: [] }),
    };
    return requestSmuggling.run(target as unknown as AttackTarget);
  }

  it('is shown at a server that obeys Transfer-Encoding and ignores Content-Length', async () => {
    const [weakness] = await attack((socket) => serve(socket, byChunks));
    match(weakness!.shown, /hidden in the body of a message with Content-Length and Transfer-Encoding/);
    match(String(weakness!.requests[0]), /^POST \/ HTTP\/1\.1\r\n.*GET \/attack1 HTTP\/1\.1/s);
  });

  it('is shown at a server that ignores lengths that are not numbers', async () => {
    const [weakness] = await attack((socket) => serve(socket, (head) => (/: \+/.test(head) ? 0 : 10_000)));
    match(weakness!.shown, /a length with a sign/);
  });

  it('is not shown at a server that rejects ambiguous messages and closes', async () => {
    const rejecting = (socket: Socket) => {
      socket.on('error', () => {});
      socket.resume().end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    };
    equal((await attack(rejecting)).length, 0);
  });
});
