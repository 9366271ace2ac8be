// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { deepEqual, equal, notEqual, ok, rejects } from 'node:assert/strict';
import { connect } from 'node:net';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { isForAccount } from '../../../../plugins/auth/ntlm/exchange.ts';
import { plugin } from '../../../../plugins/auth/ntlm/index.ts';
import { md4 } from '../../../../plugins/auth/ntlm/md4.ts';
import { accountOf, authenticateMessage, ntlmv2Hash, readChallenge } from '../../../../plugins/auth/ntlm/messages.ts';
import { until } from '../../../support/conditions.ts';
import { json, rememberingSinks, startBackend, startGateway } from '../../../support/gateway.ts';
import { findingsOf } from '../fixture.ts';
import { challengeMessage, startNtlmServer } from './server.ts';

describe('auth/ntlm', () => {
  let server: Awaited<ReturnType<typeof startNtlmServer>>;
  let gateway: Operations | undefined;

  beforeEach(async () => {
    server = await startNtlmServer({ 'CORP\\u': 'p', '\\u@corp.example': 'q' });
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await server.close();
  });

  const config = (ntlm: object = {}, more: object = {}, extra: object = {}) => ({
    version: 3,
    endpoints: [
      {
        endpoint: '/a',
        output_encoding: 'no-op',
        input_headers: ['*'],
        backend: [
          {
            host: [server.url],
            url_pattern: '/b',
            extra_config: { 'auth/ntlm': { user: 'CORP\\u', password: 'p', ...ntlm }, ...extra },
          },
        ],
        ...more,
      },
    ],
  });
  const start = async (...given: Parameters<typeof config>) => {
    gateway = await startGateway(config(...given));
  };
  const ask = (options: object = {}) => gateway!.inject({ url: '/a', ...options } as never);
  const messages = () => server.seen.map(({ message }) => message);

  it('authenticates with three requests over one connection', async () => {
    await start();
    equal((await ask()).statusCode, 200);
    deepEqual(messages(), [0, 1, 3]);
    equal(new Set(server.seen.map(({ socket }) => socket)).size, 1);
  });

  it('sends one request over an authenticated connection, and authenticates again if the server requires it', async () => {
    await start();
    await ask();
    await ask();
    deepEqual(messages(), [0, 1, 3, 0]);
    server.forget();
    equal((await ask()).statusCode, 200);
    deepEqual(messages().slice(4), [0, 1, 3]);
  });

  it('sends the body with the first and the last request of the handshake only', async () => {
    await start({}, { method: 'POST' });
    equal((await ask({ method: 'POST', payload: 'x=1' })).statusCode, 200);
    deepEqual(
      server.seen.map(({ body, length }) => [body, length]),
      [
        ['x=1', '3'],
        ['', '0'],
        ['x=1', '3'],
      ],
    );
  });

  it('tries a wrong password only once, and logs the rejection without the password', async () => {
    const sinks = rememberingSinks();
    gateway = await startGateway(config({ password: 'wrong-one' }), { sinks });
    equal((await ask()).statusCode, 401);
    equal(messages().filter((message) => message === 3).length, 1);
    await until(() => sinks.lines.some((line) => line.includes('NTLM authentication rejected')));
    ok(!sinks.lines.join('').includes('wrong-one'));
  });

  it('returns 500 if the account is rejected and the response is decoded', async () => {
    await start({ password: 'x' }, { output_encoding: 'json' });
    equal((await ask()).statusCode, 500);
  });

  it('computes the published test vector of NTLMv2', () => {
    const hash = ntlmv2Hash(accountOf('Domain\\User', 'Password'), 'Domain');
    equal(hash.toString('hex'), '0c868a403bfd7a93a3001ef22ef02e3f');
  });

  it('converts names to upper case like Windows, character by character', () => {
    const hashOf = (name: string) => ntlmv2Hash(accountOf(`D\\${name}`, 'p'), 'D').toString('hex');
    equal(hashOf('groß'), hashOf('GROß'));
    equal(hashOf('müller'), hashOf('MÜLLER'));
    notEqual(hashOf('groß'), hashOf('GROSS'));
  });

  it('sends credentials to the same host only, and never in plaintext after TLS', () => {
    const shown = (to: string, from: string) => isForAccount(to, from);
    deepEqual(
      [
        shown('https://a.test', 'http://a.test'),
        shown('http://a.test:81', 'http://a.test'),
        shown('http://a.test', 'https://a.test'),
        shown('https://b.test', 'https://a.test'),
      ],
      [true, true, false, false],
    );
  });

  for (const [text, hash] of [
    ['', '31d6cfe0d16ae931b73c59d7e0c089c0'],
    ['abc', 'a448017aaf21d8525fc10ae87aa6729d'],
    [
      '12345678901234567890123456789012345678901234567890123456789012345678901234567890',
      'e33b4ddc9c38f2199c3e7b164fcc0536',
    ],
  ] as const) {
    it(`computes MD4 of ${text.length} bytes as defined in RFC 1320`, () =>
      equal(md4(Buffer.from(text)).toString('hex'), hash));
  }

  it("uses the server's timestamp if the challenge contains one", () => {
    const time = Buffer.from('0102030405060708', 'hex');
    const targetInfo = Buffer.concat([Buffer.from([7, 0, 8, 0]), time, Buffer.alloc(4)]);
    const challenge = { challenge: Buffer.alloc(8), targetName: 'D', targetInfo };
    ok(
      authenticateMessage(accountOf('u', 'p'), challenge).includes(
        Buffer.concat([Buffer.from('0101000000000000', 'hex'), time]),
      ),
    );
  });

  it('accepts a user name without a domain, and a user name that contains its domain', async () => {
    await start({ user: 'u' });
    equal((await ask()).statusCode, 200);
    await gateway!.close();
    await start({ user: 'u@corp.example', password: 'q' });
    equal((await ask()).statusCode, 200);
  });

  it('supports the scheme Negotiate', async () => {
    server.state.scheme = 'Negotiate';
    await start();
    equal((await ask()).statusCode, 200);
  });

  it('forwards a 401 that offers neither NTLM nor Negotiate', async () => {
    server.state.scheme = 'Basic realm="x"';
    await start();
    const { statusCode, headers } = await ask();
    deepEqual([statusCode, headers['www-authenticate'], messages()], [401, 'Basic realm="x"', [0]]);
  });

  it("never forwards the client's Authorization header", async () => {
    await start();
    await ask({ headers: { authorization: 'NTLM TlRMTVNTUAADAAAAAAAAAAAAAAA=' } });
    deepEqual(messages(), [0, 1, 3]);
  });

  it('uses separate connections for concurrent requests', async () => {
    await start();
    const responses = await Promise.all(Array.from({ length: 40 }, () => ask()));
    deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]));
    const sockets = new Set(server.seen.map(({ socket }) => socket));
    ok(sockets.size > 1 && sockets.size <= 16, `${sockets.size}`);
    for (const socket of sockets) {
      deepEqual(
        server.seen
          .filter((one) => one.socket === socket)
          .map(({ message }) => message)
          .slice(0, 3),
        [0, 1, 3],
      );
    }
  });

  it('serves other clients while many clients do not read their responses', async () => {
    const long = Buffer.alloc(32 * 1024 * 1024);
    server.state.respond = ({ url }, response) => response.end(url === '/long' ? long : 'short');
    const [endpoint] = config().endpoints;
    gateway = await startGateway({
      version: 3,
      timeout: '60s',
      endpoints: [
        { ...endpoint!, endpoint: '/{path}', backend: [{ ...endpoint!.backend[0], url_pattern: '/{path}' }] },
      ],
    });
    const { port } = await gateway.listen();
    const clients = Array.from({ length: 40 }, () => {
      const client = connect(port, '127.0.0.1').pause();
      client.on('error', () => {}).write('GET /long HTTP/1.1\r\nHost: x\r\n\r\n');
      return client;
    });
    await until(() => server.seen.filter(({ message }) => message === 3).length === clients.length);
    equal((await gateway.inject({ url: '/short' })).body, 'short');
    for (const client of clients) client.destroy();
  });

  it('keeps its connections across a reload', async () => {
    await start();
    await ask();
    await gateway!.reload({ ...config(), name: 'other' });
    await ask();
    deepEqual(messages(), [0, 1, 3, 0]);
  });

  for (const [what, challenge] of [
    ['a message that is not a challenge', () => Buffer.from('nonsense of some length, more than 32 bytes')],
    ['a truncated challenge', (nonce: Buffer) => challengeMessage(nonce).subarray(0, 60)],
    [
      'a challenge in another encoding',
      (nonce: Buffer) => {
        const message = challengeMessage(nonce);
        message.writeUInt32LE(0x808202, 20);
        return message;
      },
    ],
  ] as const) {
    it(`returns 500 for ${what}`, async () => {
      server.state.challenge = challenge;
      await start();
      deepEqual([(await ask()).statusCode, messages()], [500, [0, 1]]);
    });
  }

  it('repeats the handshake once if the connection breaks during it', async () => {
    let cuts = 1;
    server.state.beforeChallenge = (socket) => {
      if (cuts-- <= 0) return false;
      socket.destroy();
      return true;
    };
    await start({}, { method: 'POST' });
    equal((await ask({ method: 'POST', payload: 'x' })).statusCode, 200);
    deepEqual(messages(), [0, 1, 0, 1, 3]);
    await gateway!.close();
    cuts = 9;
    await start({}, { method: 'POST' });
    equal((await ask({ method: 'POST', payload: 'x' })).statusCode, 500);
  });

  it('rejects a body larger than 10 MiB', async () => {
    await start({}, { method: 'POST' });
    const payload = Buffer.alloc(10 * 1024 * 1024 + 1);
    deepEqual([(await ask({ method: 'POST', payload })).statusCode, server.seen.length], [500, 0]);
  });

  it('follows redirects on the same host over the same connection and sends no credentials to other hosts', async () => {
    const other = await startBackend(json({ other: true }));
    let location = '/moved';
    server.state.respond = (seen, response) => {
      if (seen.url === '/moved')
        response.setHeader('content-type', 'application/json').end(`{"method":"${seen.method}"}`);
      else response.writeHead(302, { location }).end();
    };
    await start({}, { method: 'POST' });
    equal((await ask({ method: 'POST', payload: 'x' })).json().method, 'GET');
    deepEqual(messages(), [0, 1, 3, 0]);
    location = `${other.url.replace('127.0.0.1', 'localhost')}/x`;
    equal((await ask({ method: 'POST', payload: 'x' })).json().other, true);
    equal(other.requests[0]!.headers.authorization, undefined);
    await other.close();
  });

  it('rejects malformed challenges', () => {
    for (const length of [0, 8, 31, 40]) equal(readChallenge(Buffer.alloc(length)), null);
  });

  describe('in the configuration check', () => {
    const open = (ntlm: object, around: object = {}) => openHarness(plugin, 'backend', ntlm, around);
    for (const [what, ntlm] of Object.entries({
      'no password': { user: 'u' },
      'an empty user': { user: '', password: 'p' },
      'an unknown field': { user: 'u', password: 'p', domain: 'd' },
    })) {
      it(`rejects ${what}`, () => rejects(open(ntlm), { code: 'CONFIG_INVALID' }));
    }

    it('rejects backends without keep-alive and backends behind a proxy', async () => {
      const ntlm = { user: 'u', password: '${P}' };
      deepEqual(await findingsOf(open(ntlm, { service: { disable_keep_alives: true } })), ['NTLM_KEEP_ALIVE ']);
      const extra_config = { 'backend/http/client': { proxy_address: 'http://p:1' } };
      deepEqual(await findingsOf(open(ntlm, { backend: { extra_config } })), ['NTLM_PROXY ']);
    });
  });
});
