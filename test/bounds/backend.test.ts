import { deepEqual, ok } from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { HeaderBag, type PipeRequest, Reply, type Step } from '#contract';
import { DeniedAddresses } from '../../kernel/net/denied-addresses.ts';
import { Clocks } from '../../plugins/auth/aws-sigv4/clocks.ts';
import { Channels, MAX_ADDRESSES } from '../../plugins/clients/grpc/channels.ts';
import { readVaultSecret } from '../../plugins/secrets/vault/read-secret.ts';
import { Session } from '../../plugins/secrets/vault/session.ts';
import { dress } from '../../plugins/security/cors/dress.ts';
import { entriesAdded } from '../support/added-entries.ts';
import { until } from '../support/conditions.ts';
import { rememberingLog } from '../support/log.ts';

describe('bounds of data that backends fill', function () {
  this.timeout(60_000);

  it('close connections to the oldest unused of more than 256 gRPC addresses', async () => {
    const open = new Map<string, Socket>();
    const server = createServer((socket) => {
      const address = socket.localAddress!;
      open.set(address, socket);
      socket
        .on('error', () => {})
        .once('close', () => open.delete(address))
        .resume();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '0.0.0.0', resolve);
    });
    const { port } = server.address() as { port: number };
    const denied = new DeniedAddresses();
    const channels = new Channels({ timeoutMs: 60_000, keepAliveMs: -1, fallbackDelayMs: 0, tls: null, denied });
    const addressAt = (at: number) => `127.1.${Math.floor(at / 200)}.${1 + (at % 200)}`;
    try {
      const busy = channels.to(`${addressAt(0)}:${port}`)!;
      busy.enter();
      for (let at = 1; at < MAX_ADDRESSES; at++) {
        const channel = channels.to(`${addressAt(at)}:${port}`)!;
        channel.enter();
        channel.leave(0);
      }
      await until(() => open.size === MAX_ADDRESSES);
      channels.to(`${addressAt(MAX_ADDRESSES)}:${port}`)!.enter();
      await until(() => open.has(addressAt(MAX_ADDRESSES)) && !open.has(addressAt(1)));
      deepEqual([open.size, open.has(addressAt(0)), open.has(addressAt(2))], [MAX_ADDRESSES, true, true]);
    } finally {
      channels.close();
      for (const socket of open.values()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('limit the number of remembered secret engines of a Vault server', async () => {
    const send: Step<PipeRequest> = ({ target }) => {
      const path = `${/mounts\/(\w+)\//.exec(target)?.[1]}/`;
      const found = path === 'undefined/' ? { a: 1 } : { path, type: 'kv', options: { version: '1' } };
      return Reply.raw(200, new HeaderBag(), Buffer.from(JSON.stringify({ data: found })));
    };
    const address = new URL('http://127.0.0.1');
    const server = { send, address, namespace: undefined, log: rememberingLog(), timeoutMs: 1000 };
    const session = new Session({ path: null, fields: { token: 'a-token' }, files: {} });
    const { signal } = new AbortController();
    for (let at = 0; at < 110; at++) await readVaultSecret(session, server, `kv${at}/name`, undefined, signal);
    deepEqual([session.mounts.size, session.mounts.get('kv0/')], [100, 1]);
  });

  it('forget the clock skew of the oldest host, above a thousand hosts', () => {
    const clocks = new Clocks();
    for (let at = 0; at <= 1000; at++) clocks.set(`h${at}`, 1);
    deepEqual([clocks.skewOf('h0'), clocks.skewOf('h1'), clocks.skewOf('h1000')], [0, 1, 1]);
  });

  it('drop the oldest of more than 256 cached Vary headers', () => {
    const added = entriesAdded(() => {
      for (let at = 0; at < 300; at++) {
        const reply = Reply.data({});
        reply.headers = new HeaderBag(['Vary', `X-${at}`]);
        dress(reply, [], 'Origin');
        deepEqual(reply.headers.list, ['Vary', `X-${at}, Origin`]);
      }
    });
    ok(added <= 256);
  });
});
