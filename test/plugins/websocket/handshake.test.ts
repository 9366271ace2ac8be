import { deepEqual, equal, match } from 'node:assert/strict';
import { ask } from '../../kernel/server/ask.ts';
import { openRaw, statusesOf } from '../../kernel/server/raw.ts';
import { refusalOf, type TestSocketServer } from '../../support/websocket.ts';
import { configOf, directConfig, Stage } from './setup.ts';

/** A handshake, with other headers or without some. */
function handshake(changes: Readonly<Record<string, string | null>> = {}, line = 'GET /chat/red HTTP/1.1'): string {
  const headers: Record<string, string | null> = {
    Host: 'a',
    Connection: 'keep-alive, Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...changes,
  };
  const written = Object.entries(headers).filter(([, value]) => value !== null);
  return `${line}\r\n${written.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

for (const [mode, config] of [
  ['a shared connection', configOf],
  ['a connection of its own for each client', directConfig],
] as const) {
  describe(`the handshake of a websocket with ${mode}`, () => {
    let stage: Stage;
    let backend: TestSocketServer;

    beforeEach(async () => {
      stage = new Stage();
      backend = await stage.backend({ accepted: ({ send }) => send('OK') });
    });
    afterEach(() => stage.close());

    /** What comes back, as soon as there is a head. */
    const answered = async (bytes: string): Promise<string> => {
      const client = await openRaw(stage.port);
      client.write(bytes);
      await client.until((received) => received.includes('\r\n\r\n'));
      client.socket.destroy();
      return client.received;
    };

    it('is answered 101 with the proof that its key was read', async () => {
      await stage.start(config(backend.url));
      const received = await answered(handshake());
      match(received, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
      match(received, /\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/);
      match(received, /\r\nUpgrade: websocket\r\n/);
      match(await answered(handshake({ Upgrade: 'WebSocket', Connection: 'upgrade' })), / 101 /);
    });

    it('is answered 426 where nothing of it is there, and 405 for another method', async () => {
      await stage.start(config(backend.url));
      const { status, headers } = await ask(stage.port, 'GET /chat/red');
      deepEqual([status, headers.upgrade], [426, 'websocket']);
      equal((await ask(stage.port, 'POST /chat/red')).status, 405);
      match(await answered(handshake({}, 'POST /chat/red HTTP/1.1')), / 405 /);
      match(await answered(handshake({ Upgrade: 'shout' })), / 426 /);
    });

    it('is answered 400 where something of it is wrong', async () => {
      await stage.start(config(backend.url));
      const wrong: readonly Readonly<Record<string, string | null>>[] = [
        { Connection: 'keep-alive' },
        { 'Sec-WebSocket-Version': '8' },
        { 'Sec-WebSocket-Version': null },
        { 'Sec-WebSocket-Key': null },
        { 'Sec-WebSocket-Key': 'c2hvcnQ=' },
        { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ' },
        { 'Sec-WebSocket-Protocol': 'a,,b' },
        { 'Sec-WebSocket-Protocol': 'a, a' },
        { 'Sec-WebSocket-Protocol': 'a b' },
        { 'Content-Length': '0' },
      ];
      for (const headers of wrong)
        deepEqual([headers, ...statusesOf(await answered(handshake(headers)))], [headers, 400]);
      match(await answered(handshake({}, 'GET /chat/red HTTP/1.0')), / 400 /);
      match(await answered(handshake({ 'Sec-WebSocket-Version': '8' })), /\r\nSec-WebSocket-Version: 13\r\n/);
    });

    it('is rejected by components around it, with an ordinary response', async () => {
      const keys = [{ key: 'k1', roles: ['reader'] }];
      const root = { extra_config: { 'auth/api-keys': { keys } } };
      await stage.start(config(backend.url, { root, extra: { 'auth/api-keys': { roles: ['reader'] } } }));
      equal(await refusalOf(stage.url('/chat/red')), 401);
      await stage.open('/chat/red', { headers: { Authorization: 'Bearer k1' } });
    });

    it('is rejected to pages of origins that are not allowed, where CORS says which are', async () => {
      const root = { extra_config: { 'security/cors': { allow_origins: ['https://app.example'] } } };
      await stage.start(config(backend.url, { root }));
      equal(await refusalOf(stage.url('/chat/red'), { origin: 'https://evil.example' }), 403);
      equal(await refusalOf(stage.url('/chat/red'), { origin: 'null' }), 403);
      equal(await refusalOf(stage.url('/chat/red'), { origin: 'https://app.example.evil.example' }), 403);
      await stage.open('/chat/red', { origin: 'https://app.example' });
      // No browser.
      await stage.open('/chat/red');
    });

    it('is open to any page where nothing says which are allowed', async () => {
      await stage.start(config(backend.url));
      await stage.open('/chat/red', { origin: 'https://any.example' });
    });
  });
}
