import { deepEqual, equal, match } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { startGateway } from '../support/gateway.ts';
import { openSocket, refusalOf, startSocketServer, type TestSocketServer } from '../support/websocket.ts';
import { followGuide } from './guide.ts';

describe('the sample "sockets"', () => {
  let backend: TestSocketServer;
  let gateway: Operations;
  let url: string;

  before(async () => {
    backend = await startSocketServer({
      accepted: ({ socket, send }) => socket.once('message', (data) => String(data).startsWith('{"msg"') && send('OK')),
    });
    const text = readFileSync('samples/sockets/gateway.json', 'utf8').replaceAll('ws://localhost:8082', backend.url);
    gateway = await startGateway(JSON.parse(text));
    url = `ws://127.0.0.1:${(await gateway.listen()).port}`;
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it('has a guide whose commands print the output that it shows', async () => {
    const echo = await startSocketServer({
      accepted: ({ socket }) => socket.on('message', (data) => socket.send(String(data))),
    });
    try {
      await followGuide('sockets', { ports: { 8082: Number(new URL(echo.url).port) } });
    } finally {
      await echo.close();
    }
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/sockets/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('forwards messages of chat clients, and messages of the backend to a room', async () => {
    const peer = await backend.next();
    const client = await openSocket(`${url}/chat/red`);
    client.send('hi');
    equal(await peer.next(), '{"msg":"KrakenD WS proxy starting"}');
    match(String(await peer.next()), /"event":"connected"/);
    match(
      String(await peer.next()),
      /^\{"url":"\/chat\/red","session":\{"uuid":"[-\da-f]+","Room":"red"\},"body":"aGk="\}$/,
    );
    peer.send('{"session":{"Room":"red"},"body":"eA=="}');
    equal(await client.next(), 'x');
    client.socket.terminate();
  });

  it('connects a client directly to a backend', async () => {
    const client = await openSocket(`${url}/live/red`);
    const peer = await backend.next();
    equal(peer.request.url, '/rooms/red');
    client.send('hi');
    equal(await peer.next(), 'hi');
    client.socket.terminate();
  });

  it('rejects pages of other origins', async () => {
    equal(await refusalOf(`${url}/chat/red`, { origin: 'https://evil.example.test' }), 403);
  });
});
