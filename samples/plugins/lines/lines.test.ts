import { deepEqual, equal, match } from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { Call } from 'sluice/plugin';
import { openHarness } from 'sluice/testing';
import { LineConnection } from './connection.ts';
import { plugin } from './lines.ts';

const sockets: Socket[] = [];
let answer = (line: string, socket: Socket): unknown => socket.write(`{"asked":${JSON.stringify(line)}}\n`);
const server = createServer((socket) => {
  sockets.push(socket);
  socket.setEncoding('utf8').on('data', (text) => {
    for (const line of String(text).split('\n').slice(0, -1)) answer(line, socket);
  });
  socket.on('error', () => {});
});
const echo = answer;
let origin: string;

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `lines://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

test('a plugin is attached, and releases its connection', async () => {
  const gate = await openHarness(plugin, 'backend', {}, { backend: { host: [origin] } });
  deepEqual(gate.attached.protocol?.schemes, ['lines']);
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
});

test('answers come in order over one connection, also beside those of clients that have left', async () => {
  const connection = new LineConnection(origin, 5000);
  const leaving = new Call();
  const left = connection.ask('/left', leaving).catch((error: Error) => error.message);
  const stays = connection.ask('/stays', new Call());
  leaving.cancel();
  equal(await left, 'context canceled');
  equal(await stays, '{"asked":"/stays"}');
  equal(await connection.ask('/next', new Call()), '{"asked":"/next"}');
  equal(sockets.length, 1);
  connection.close();
});

test('a silent server fails what waits, and the next request has a connection of its own', async () => {
  const connection = new LineConnection(origin, 20);
  answer = () => {};
  match(await connection.ask('/', new Call()).catch(String), /no response: silent for 20 ms/);
  answer = echo;
  equal(await connection.ask('/again', new Call()), '{"asked":"/again"}');
  connection.close();
});

test('a line without end is not collected for ever', async () => {
  const connection = new LineConnection(origin, 5000);
  answer = (_line, socket) => socket.write('x'.repeat(70_000));
  match(await connection.ask('/', new Call()).catch(String), /a line longer than 65536 bytes/);
  answer = echo;
});

test('a server that is away is a failed call', async () => {
  const connection = new LineConnection('lines://127.0.0.1:1', 5000);
  match(await connection.ask('/', new Call()).catch(String), /no response: .*ECONNREFUSED/);
});
