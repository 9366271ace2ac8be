import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';

/** A backend that expects the PROXY protocol, version 1, and responds with the header of the connection, for this sample only. */
const [url = 'http://127.0.0.1:8082'] = process.argv.slice(2);
const { hostname, port } = new URL(url);

/** Maximum length of a header, with its line break. */
const LONGEST = 107;

const headers = new WeakMap<Socket, string>();

const http = createHttpServer(({ socket }, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ header: headers.get(socket) }));
});

/** Reads the header of a connection. The bytes after it are HTTP. */
async function accept(socket: Socket): Promise<void> {
  let text = '';
  while (!text.includes('\r\n') && text.length < LONGEST) {
    await once(socket, 'readable');
    text += socket.read()?.toString('latin1') ?? '';
  }
  const end = text.indexOf('\r\n');
  if (!text.startsWith('PROXY ') || end < 0) return void socket.destroy();
  headers.set(socket, text.slice(0, end));
  socket.unshift(Buffer.from(text.slice(end + 2), 'latin1'));
  http.emit('connection', socket);
}

createServer((socket) => accept(socket).catch(() => socket.destroy())).listen(Number(port), hostname, () =>
  console.log(`a backend with the PROXY protocol is at ${url}`),
);
