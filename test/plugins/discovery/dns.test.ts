import { deepEqual, equal, ok } from 'node:assert/strict';
import type { SrvRecord } from 'node:dns';
import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Gateway } from '../../../kernel/sluice.ts';
import { startNameServer, type TestNameServer } from '../../support/dns.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../support/gateway.ts';

const NAME = '_http._tcp.api.test';

describe('service discovery with "sd": "dns"', () => {
  let names: TestNameServer;
  let a: TestBackend;
  let b: TestBackend;
  let gateway: Gateway | null = null;

  before(async () => {
    names = await startNameServer();
    [a, b] = [await startBackend(json({ from: 'a' })), await startBackend(json({ from: 'b' }))];
  });
  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    names.zone.set(NAME, [record(a, 1)]);
    (names.requested as string[]).length = 0;
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = null;
    mock.timers.reset();
    names.zone.clear();
  });
  after(() => Promise.all([names.close(), a.close(), b.close()]));

  function record(backend: TestBackend, weight: number, priority = 10): SrvRecord {
    return { name: 'localhost', port: Number(new URL(backend.url).port), weight, priority };
  }

  const backend = { host: [NAME], sd: 'dns', disable_host_sanitize: true, url_pattern: '/' };

  function config(backends: object[] = [{}], service: object = {}): object {
    return {
      version: 3,
      extra_config: { router: { return_error_msg: true } },
      ...service,
      endpoints: backends.map((fields, at) => ({ endpoint: `/x${at}`, backend: [{ ...backend, ...fields }] })),
    };
  }

  async function start(backends?: object[], service?: object, options?: object): Promise<Gateway> {
    gateway = await startGateway(config(backends, service), options);
    return gateway;
  }

  /** Name of the responding server, or the status and text of a failure. */
  async function ask(path = '/x0'): Promise<string> {
    const { statusCode, body } = await gateway!.inject(path);
    return statusCode === 200 ? JSON.parse(body).from : `${statusCode} ${body}`;
  }

  async function until(response: string, path?: string): Promise<void> {
    while ((await ask(path)) !== response) await turn();
  }

  async function shares(times: number): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (let at = 0; at < times; at++) {
      const from = await ask();
      counts[from] = (counts[from] ?? 0) + 1;
    }
    return counts;
  }

  it('calls the target of the SRV record of the first host', async () => {
    await start();
    equal(await ask(), 'a');
    deepEqual(names.requested, [NAME]);
  });

  it('looks up the host even with host sanitization enabled', async () => {
    await start([{ disable_host_sanitize: false }, { host: undefined }], { host: [NAME] });
    equal(await ask('/x0'), 'a');
    equal(await ask('/x1'), 'a');
  });

  it('distributes calls by weight among the records with the lowest priority', async () => {
    const down = { name: 'localhost', port: 1, weight: 50, priority: 20 };
    names.zone.set(NAME, [record(a, 1), record(b, 2), down]);
    await start();
    deepEqual(await shares(30), { a: 10, b: 20 });
  });

  it('distributes calls equally among records that all have weight 0', async () => {
    names.zone.set(NAME, [record(a, 0), record(b, 0)]);
    await start();
    deepEqual(await shares(10), { a: 5, b: 5 });
  });

  it('selects hosts independently for each of several concurrent calls', async () => {
    // Each server waits until both have received the request, because an earlier response would cancel the other call.
    const waiting: ServerResponse[] = [];
    const requested = (response: ServerResponse) => {
      if (waiting.push(response) === 2) for (const one of waiting) one.end('{}');
    };
    const [one, other] = [
      await startBackend((_seen, response) => requested(response)),
      await startBackend((_seen, response) => requested(response)),
    ];
    names.zone.set(NAME, [record(one, 1), record(other, 1)]);
    gateway = await startGateway({
      version: 3,
      endpoints: [{ endpoint: '/x0', concurrent_calls: 2, timeout: '20s', backend: [backend] }],
    });
    equal((await gateway.inject('/x0')).body, '{}');
    deepEqual([one.requests.length, other.requests.length], [1, 1]);
    await Promise.all([one.close(), other.close()]);
  });

  it('starts without hosts if the lookup fails, logs this, and serves requests once a lookup succeeds', async () => {
    names.zone.set(NAME, 'fails');
    const sinks = rememberingSinks();
    await start([{}], {}, { sinks });
    equal(await ask(), '500 no hosts available');
    ok(
      sinks.lines.some((line) => /WARNING.*SRV look-up of _http\._tcp\.api\.test failed: ESERVFAIL/.test(line)),
      sinks.lines.join(''),
    );
    names.zone.set(NAME, [record(b, 1)]);
    mock.timers.tick(30_000);
    await until('b');
  });

  it('starts without hosts if the name does not exist', async () => {
    names.zone.delete(NAME);
    await start();
    equal(await ask(), '500 no hosts available');
  });

  it('returns no hosts if the DNS record declares that the service is unavailable', async () => {
    names.zone.set(NAME, [{ name: '', port: 0, weight: 0, priority: 0 }]);
    await start();
    equal(await ask(), '500 no hosts available');
  });

  it("does not affect the endpoint's other backends if one backend has no hosts", async () => {
    names.zone.set(NAME, 'fails');
    gateway = await startGateway({
      version: 3,
      endpoints: [{ endpoint: '/x0', backend: [backend, { host: [a.url], url_pattern: '/' }] }],
    });
    const { body, headers } = await gateway.inject('/x0');
    equal(body, '{"from":"a"}');
    equal(headers['x-gateway-completed'], 'false');
  });

  it('repeats the lookup every dns_cache_ttl, even without traffic', async () => {
    await start([{}], { dns_cache_ttl: '5s' });
    for (const [round, next] of [b, a, b].entries()) {
      names.zone.set(NAME, [record(next, 1)]);
      mock.timers.tick(4999);
      await settle();
      equal(names.requested.length, round + 1);
      mock.timers.tick(1);
      while (names.requested.length < round + 2) await turn();
      await until(next === a ? 'a' : 'b');
    }
  });

  it('repeats the lookup every 30 seconds by default, and for a dns_cache_ttl of 0', async () => {
    for (const service of [{}, { dns_cache_ttl: '0s' }]) {
      const before = names.requested.length;
      await start([{}], service);
      mock.timers.tick(29_999);
      await settle();
      equal(names.requested.length, before + 1);
      mock.timers.tick(1);
      while (names.requested.length < before + 2) await turn();
      await gateway!.close();
    }
    gateway = null;
  });

  it('switches to changed records', async () => {
    await start();
    names.zone.set(NAME, [record(b, 1)]);
    mock.timers.tick(30_000);
    await until('b');
  });

  it('keeps the last hosts while lookups fail, and logs each kind of failure once', async () => {
    const sinks = rememberingSinks();
    await start([{}], {}, { sinks, debug: true });
    names.zone.set(NAME, 'fails');
    const failures = () => sinks.lines.filter((line) => line.includes('the last known hosts remain in use'));
    for (let round = 1; round <= 3; round++) {
      mock.timers.tick(30_000);
      while (failures().length < round) await turn();
      await settle();
    }
    equal(await ask(), 'a');
    equal(failures().filter((line) => line.includes('WARNING')).length, 1, sinks.lines.join(''));
  });

  it('never runs two lookups of one backend concurrently', async () => {
    await start();
    names.zone.set(NAME, 'silent');
    mock.timers.tick(30_000);
    while (names.requested.length < 2) await turn();
    mock.timers.tick(90_000);
    await settle();
    equal(names.requested.length, 2);
    equal(await ask(), 'a');
  });

  it('looks a name up separately for each backend with "dns", and once for all backends with "dns_shared"', async () => {
    await start([{}, {}, {}]);
    equal(names.requested.length, 3);
    await gateway!.close();
    const shared = { sd: 'dns-shared' };
    await start([shared, shared, { ...shared, host: ['_HTTP._tcp.api.test.'] }]);
    equal(names.requested.length, 4);
    names.zone.set(NAME, [record(b, 1)]);
    mock.timers.tick(30_000);
    await Promise.all(['/x0', '/x1', '/x2'].map((path) => until('b', path)));
    equal(names.requested.length, 5);
  });

  it('keeps its hosts across a reload even if lookups fail', async () => {
    await start([{}, { sd: 'dns-shared' }]);
    names.zone.set(NAME, 'fails');
    await gateway!.reload(config([{}, { sd: 'dns-shared' }], { dns_cache_ttl: '10s' }));
    deepEqual([await ask('/x0'), await ask('/x1')], ['a', 'a']);
    equal(names.requested.length, 2);
  });

  it('applies a changed dns_cache_ttl instead of the old one', async () => {
    await start([{}], { dns_cache_ttl: '5s' });
    await gateway!.reload(config([{}], { dns_cache_ttl: '60s' }));
    while (gateway!.status.draining > 0) await turn();
    mock.timers.tick(59_999);
    await settle();
    equal(names.requested.length, 1);
    mock.timers.tick(1);
    while (names.requested.length < 2) await turn();
  });

  it('does not restart its interval on a reload without changes', async () => {
    await start();
    mock.timers.tick(20_000);
    await gateway!.reload(config([{}], { name: 'other' }));
    while (gateway!.status.draining > 0) await turn();
    mock.timers.tick(10_000);
    while (names.requested.length < 2) await turn();
  });

  it('looks up a new name in a reloaded configuration before the configuration is activated', async () => {
    await start();
    names.zone.set('other.test', [record(b, 1)]);
    await gateway!.reload(config([{ host: ['other.test'] }]));
    equal(await ask(), 'b');
  });

  it('stops lookups when the gateway closes', async () => {
    await start();
    await gateway!.close();
    gateway = null;
    mock.timers.tick(300_000);
    await settle();
    equal(names.requested.length, 1);
  });
});

/** Waits several turns of the event loop, in which nothing must happen. */
async function settle(): Promise<void> {
  for (let at = 0; at < 20; at++) await turn();
}
