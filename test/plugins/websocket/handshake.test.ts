import { deepEqual, equal, match } from 'node:assert/strict';
import { ask } from '../../kernel/server/ask.ts';
import { openRaw, statusesOf } from '../../kernel/server/raw.ts';
import { refusalOf, type TestSocketServer } from '../../support/websocket.ts';
import { configOf, directConfig, Stage } from './setup.ts';

/** A handshake with changed or omitted headers. */
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
  ['a shared backend connection', configOf],
  ['a backend connection for each client', directConfig],
] as const) {
  describe(`the handshake of a websocket with ${mode}`, () => {
    let stage: Stage;
    let backend: TestSocketServer;

    beforeEach(async () => {
      stage = new Stage();
      backend = await stage.backend({ accepted: ({ send }) => send('OK') });
    });
    afterEach(() => stage.close());

    /** The response once its head has arrived. */
    const answered = async (bytes: string): Promise<string> => {
      const client = await openRaw(stage.port);
      client.write(bytes);
      await client.until((received) => received.includes('\r\n\r\n'));
      client.socket.destroy();
      return client.received;
    };

    it('is answered with 101 and the computed Sec-WebSocket-Accept', async () => {
      await stage.start(config(backend.url));
      const received = await answered(handshake());
      match(received, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
      match(received, /\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/);
      match(received, /\r\nUpgrade: websocket\r\n/);
      match(await answered(handshake({ Upgrade: 'WebSocket', Connection: 'upgrade' })), / 101 /);
    });

    it('is answered with 426 for a plain GET, and with 405 for another method', async () => {
      await stage.start(config(backend.url));
      const { status, headers } = await ask(stage.port, 'GET /chat/red');
      deepEqual([status, headers.upgrade], [426, 'websocket']);
      equal((await ask(stage.port, 'POST /chat/red')).status, 405);
      match(await answered(handshake({}, 'POST /chat/red HTTP/1.1')), / 405 /);
      match(await answered(handshake({ Upgrade: 'shout' })), / 426 /);
    });

    it('is answered with 400 if one of its headers is invalid', async () => {
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

    it('can be rejected by components with an ordinary response', async () => {
      const keys = [{ key: 'k1', roles: ['reader'] }];
      const root = { extra_config: { 'auth/api-keys': { keys } } };
      await stage.start(config(backend.url, { root, extra: { 'auth/api-keys': { roles: ['reader'] } } }));
      equal(await refusalOf(stage.url('/chat/red')), 401);
      await stage.open('/chat/red', { headers: { Authorization: 'Bearer k1' } });
    });

    it('is rejected for origins that security/cors does not allow', async () => {
      const root = { extra_config: { 'security/cors': { allow_origins: ['https://app.example'] } } };
      await stage.start(config(backend.url, { root }));
      equal(await refusalOf(stage.url('/chat/red'), { origin: 'https://evil.example' }), 403);
      equal(await refusalOf(stage.url('/chat/red'), { origin: 'null' }), 403);
      equal(await refusalOf(stage.url('/chat/red'), { origin: 'https://app.example.evil.example' }), 403);
      await stage.open('/chat/red', { origin: 'https://app.example' });
      // Accepts a request without an Origin header, because the client is not a browser.
      await stage.open('/chat/red');
    });

    it('is accepted for any origin without security/cors', async () => {
      await stage.start(config(backend.url));
      await stage.open('/chat/red', { origin: 'https://any.example' });
    });
  });
}
