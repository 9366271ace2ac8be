import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConfigError, type ServiceConfig } from '#contract';

import { normalize, nothingKnown } from '../../../kernel/config/index.ts';
import { type ConfigErrors, silentLog } from '../../../kernel/contract/internal.ts';
import { PublicPort } from '../../../kernel/control/public-port.ts';
import type { Runtime } from '../../../kernel/runtime/runtime.ts';
import { freePort, until } from '../../support/conditions.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';

const FOREVER = Number.POSITIVE_INFINITY;

describe('the public port of a process', () => {
  let port: PublicPort;
  /** Delayed responses; null to respond immediately. */
  let held: ServerResponse[] | null;
  let other: TestBackend;
  let taken: number;

  before(async () => {
    other = await startBackend(json({}));
    taken = Number(new URL(other.url).port);
  });
  after(() => other.close());

  beforeEach(() => {
    held = null;
    const serve = (_message: IncomingMessage, response: ServerResponse): void => {
      if (held) held.push(response);
      else response.end('ok');
    };
    port = new PublicPort({ serving: { serve, serveHttp2: serve }, log: silentLog });
  });
  afterEach(() => port.close(0));

  const runtime = (asked: number, more: Partial<ServiceConfig> = {}): Runtime => {
    const data = { version: 3, port: asked, listen_ip: '127.0.0.1', endpoints: [], ...more };
    const { config } = normalize(data, { known: nothingKnown });
    return {
      config: { ...config, port: asked },
      tls: null,
      upgrades: new Set(),
      http2Type: null,
    } as unknown as Runtime;
  };
  const origin = (pointer: string) => `/where${pointer}`;
  const prepare = (asked: number, more: Partial<ServiceConfig> = {}) => port.prepare(runtime(asked, more), origin);
  const ask = (at: number) => fetch(`http://127.0.0.1:${at}/`);
  const responses = (at: number): Promise<boolean> =>
    ask(at).then(
      (response) => response.text().then((text) => text === 'ok'),
      () => false,
    );

  it('has no address before it is open, nor after it was closed', async () => {
    equal(port.address, null);
    await port.open(runtime(0));
    notEqual(port.address, null);
    await port.close(FOREVER);
    equal(port.address, null);
  });

  it('opens at the configured address', async () => {
    const asked = await freePort();
    deepEqual(await port.open(runtime(asked)), { host: '127.0.0.1', port: asked });
    deepEqual(port.address, { host: '127.0.0.1', port: asked });
    equal(await responses(asked), true);
  });

  it('opens once even if requested twice', async () => {
    const first = await port.open(runtime(0));
    deepEqual(await port.open(runtime(await freePort())), first);
  });

  it('reports at startup that its address is in use', async () => {
    await rejects(port.open(runtime(taken)), { code: 'LISTEN_FAILED' });
    equal(port.address, null);
  });

  describe('in a worker process', () => {
    it('is the port of the other workers if the configuration allows any free port', async () => {
      const known = await freePort();
      equal((await port.open(runtime(0), { known })).port, known);
    });

    it('is the configured port if the configuration names one', async () => {
      const asked = await freePort();
      equal((await port.open(runtime(asked), { known: await freePort() })).port, asked);
    });

    it('is any free port if the port of the other workers cannot be opened', async () => {
      const opened = await port.open(runtime(0), { known: taken });
      notEqual(opened.port, taken);
      equal(await responses(opened.port), true);
    });
  });

  describe('of the next configuration', () => {
    it('stays the same if it is configured as 0 or by its number', async () => {
      const { port: first } = await port.open(runtime(0));
      for (const asked of [0, first]) {
        const change = await prepare(asked);
        const { rebound, closed } = change.commit(FOREVER);
        await closed;
        deepEqual([rebound, port.address!.port], [[], first]);
      }
      equal(await responses(first), true);
    });

    it('keeps the existing listener when the change is aborted', async () => {
      const { port: first } = await port.open(runtime(0));
      await (await prepare(first)).abort();
      equal(await responses(first), true);
    });

    it('is opened at startup if nothing is open yet', async () => {
      const change = await prepare(taken);
      deepEqual(change.commit(FOREVER).rebound, []);
      await (await prepare(taken)).abort();
      equal(port.address, null);
    });

    it('applies the limits of the new configuration', async () => {
      const { port: first } = await port.open(runtime(0));
      const status = async () =>
        (await fetch(`http://127.0.0.1:${first}/`, { headers: { big: 'x'.repeat(9_000) } })).status;
      equal(await status(), 200);
      (await prepare(first, { max_header_bytes: 8_000 } as never)).commit(FOREVER);
      equal(await status(), 431);
    });

    it('is open before the swap, and the only one after it', async () => {
      const { port: first } = await port.open(runtime(0));
      const asked = await freePort();
      const change = await prepare(asked);
      deepEqual([await responses(first), await responses(asked), port.address!.port], [true, true, first]);
      const { rebound, closed } = change.commit(FOREVER);
      await closed;
      deepEqual([rebound, port.address], [[`127.0.0.1:${asked}`], { host: '127.0.0.1', port: asked }]);
      deepEqual([await responses(first), await responses(asked)], [false, true]);
    });

    it('is closed when it is aborted', async () => {
      const { port: first } = await port.open(runtime(0));
      const asked = await freePort();
      await (await prepare(asked)).abort();
      deepEqual([await responses(first), await responses(asked)], [true, false]);
    });

    it('can move to another address of the machine', async () => {
      const { port: first } = await port.open(runtime(await freePort()));
      const { rebound } = (await prepare(first, { listen_ip: '127.0.0.2' })).commit(FOREVER);
      deepEqual([rebound, port.address], [[`127.0.0.2:${first}`], { host: '127.0.0.2', port: first }]);
    });

    it('is a new free port after one configured by number', async () => {
      const { port: first } = await port.open(runtime(await freePort()));
      (await prepare(0)).commit(FOREVER);
      const { port: second } = port.address!;
      notEqual(second, first);
      // The port stays the same although the configuration now requests any free port.
      deepEqual((await prepare(0)).commit(FOREVER).rebound, []);
      equal(port.address!.port, second);
    });

    for (const [what, asked, more, pointer] of [
      ['port', () => taken, {}, '/where/port'],
      ['address', () => port.address!.port, { listen_ip: '192.0.2.1' }, '/where/listen_ip'],
    ] as const) {
      it(`is rejected at its ${what} if it cannot be opened`, async () => {
        await port.open(runtime(await freePort()));
        await rejects(prepare(asked(), more), (error: ConfigErrors) => {
          const [first] = error.errors;
          deepEqual([error.errors.length, first!.code, first!.pointer], [1, 'LISTENER_BIND', pointer]);
          match(first!.message, /cannot listen on /);
          equal(first instanceof ConfigError && (first.cause as { code: string }).code, 'LISTEN_FAILED');
          return true;
        });
      });
    }

    it('fails with any other error unchanged', async () => {
      await port.open(runtime(await freePort()));
      const { config } = runtime(await freePort());
      const broken = {
        config,
        get tls(): never {
          throw new Error('a bug');
        },
      } as never as Runtime;
      await rejects(port.prepare(broken, origin), { message: 'a bug' });
    });

    it('lets requests on the old port finish within the time limit', async () => {
      held = [];
      const { port: first } = await port.open(runtime(0));
      const response = ask(first);
      await until(() => held!.length === 1);
      const { closed } = (await prepare(await freePort())).commit(FOREVER);
      held[0]!.end('late');
      equal(await (await response).text(), 'late');
      await closed;
      const { port: second } = port.address!;
      const cut = ask(second);
      await until(() => held!.length === 2);
      await Promise.all([rejects(cut), (await prepare(await freePort())).commit(1).closed]);
    });
  });

  describe('in the state "closing"', () => {
    const connection = async () => (await ask(port.address!.port)).headers.get('connection');

    it('closes connections after their response, until the state is revoked', async () => {
      await port.open(runtime(0));
      port.setClosing(true);
      equal(await connection(), 'close');
      port.setClosing(false);
      equal(await connection(), 'keep-alive');
    });

    it('closes connections on a port that opens after the state was set', async () => {
      port.setClosing(true);
      await port.open(runtime(0));
      equal(await connection(), 'close');
    });

    it('keeps connections open on a new port if the state is not set', async () => {
      await port.open(runtime(0));
      (await prepare(await freePort())).commit(FOREVER);
      equal(await connection(), 'keep-alive');
    });

    it('keeps the state on a new port', async () => {
      await port.open(runtime(0));
      port.setClosing(true);
      (await prepare(await freePort())).commit(FOREVER);
      equal(await connection(), 'close');
    });

    it('waits for requests in flight within the time limit', async () => {
      held = [];
      const { port: first } = await port.open(runtime(0));
      const response = ask(first);
      await until(() => held!.length === 1);
      const closing = port.close(FOREVER);
      held[0]!.end('late');
      equal(await (await response).text(), 'late');
      await closing;
    });

    it('can be closed before it was opened', () => port.close(FOREVER));
  });
});
