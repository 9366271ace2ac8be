import { deepEqual, equal } from 'node:assert/strict';
import { HeaderBag, makeRequest } from '#contract';
import type { Operations } from '#kernel';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin as server } from '../../../../plugins/plugin/http-server.ts';
import { plugin as modifier } from '../../../../plugins/plugin/req-resp-modifier.ts';
import { json, rememberingSinks, startBackend, startGateway, type TestBackend } from '../../../support/gateway.ts';

const CIDR = ['192.168.0.0/24', '172.17.2.56/32', '10.0.0.0/16', '127.0.0.1'];
const filter = (settings: object) => ({ name: ['ip-filter'], 'ip-filter': settings });

/** Statuses of requests from an address with given headers. */
async function statuses(settings: object, ...requests: [ip: string, ...headers: string[]][]): Promise<number[]> {
  const gate = await openHarness(server, 'service', filter(settings));
  const results: number[] = [];
  for (const [ip, ...headers] of requests) {
    results.push((await gate.send(makeRequest({ ip, headers: new HeaderBag(headers) }))).status);
  }
  deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  return results;
}

async function faultsOf(settings: object): Promise<string[]> {
  try {
    await (await openHarness(server, 'service', filter(settings))).close();
    return [];
  } catch (error) {
    return (error as { errors: { code: string; pointer: string }[] }).errors.map(
      ({ code, pointer }) => `${code} ${pointer.replace(/^.*http-server/, '')}`,
    );
  }
}

async function warningsOf(config: object, around = {}): Promise<string[]> {
  const gate = await openHarness(server, 'service', config, around);
  await gate.close();
  return gate.warnings.map(({ code }) => code);
}

describe('the plugin "ip-filter"', () => {
  const xff = 'X-Forwarded-For';

  it('accepts listed addresses with an allow list', async () => {
    deepEqual(
      await statuses({ CIDR, allow: true }, ['127.0.0.1'], ['192.168.0.255'], ['192.168.1.0']),
      [200, 200, 403],
    );
  });

  it('trusts the address header of any client if no proxies are configured', async () => {
    deepEqual(await statuses({ CIDR, allow: true }, ['127.0.0.1', xff, '8.8.8.8']), [403]);
  });

  it('rejects listed addresses with a deny list', async () => {
    deepEqual(
      await statuses({ CIDR }, ['127.0.0.1', xff, '8.8.8.8'], ['8.8.8.8', xff, '10.0.3.4'], ['8.8.8.8']),
      [200, 403, 200],
    );
  });

  it('treats the nearest address that is not a trusted proxy as the client', async () => {
    const trusted_proxies = ['127.0.0.0/8'];
    const chain = '192.168.0.9, 8.8.8.8';
    deepEqual(await statuses({ CIDR, allow: true, trusted_proxies }, ['127.0.0.1', xff, chain]), [403]);
    deepEqual(
      await statuses({ CIDR, allow: true, trusted_proxies }, ['127.0.0.1', xff, '8.8.8.8', xff, '192.168.0.9']),
      [200],
    );
  });

  it('skips each of its trusted proxies', async () => {
    const trusted_proxies = ['127.0.0.0/8', '8.8.8.8/32'];
    deepEqual(
      await statuses(
        { CIDR, allow: true, trusted_proxies },
        ['127.0.0.1', xff, '192.168.0.9, 8.8.8.8'],
        ['127.0.0.1', xff, '8.8.8.8', 'X-Real-IP', '1.1.1.1'],
        ['127.0.0.1', xff, 'garbage, 8.8.8.8'],
      ),
      [200, 403, 200],
    );
  });

  it('ignores the address header unless a trusted proxy sent it', async () => {
    const settings = { CIDR, allow: true, trusted_proxies: ['203.0.113.0/24'] };
    deepEqual(await statuses(settings, ['127.0.0.1', xff, '8.8.8.8'], ['9.9.9.9', xff, '127.0.0.1']), [200, 403]);
  });

  it('accepts requests without an address with a deny list', async () => {
    const client_ip_headers = ['X-Forwarded-For'];
    deepEqual(
      [
        await statuses({ CIDR, allow: true, client_ip_headers }, ['', xff, 'garbage']),
        await statuses({ CIDR, client_ip_headers }, ['', xff, 'garbage']),
      ],
      [[403], [200]],
    );
  });

  it('treats IPv4-mapped IPv6 addresses as IPv4', async () => {
    deepEqual(await statuses({ CIDR }, ['9.9.9.9', 'X-Real-IP', '::ffff:172.17.2.56']), [403]);
    deepEqual(await statuses({ CIDR: ['::ffff:10.0.0.0/104'] }, ['10.9.9.9']), [403]);
  });

  it('parses addresses with ports, brackets and zones', async () => {
    const settings = { CIDR: ['10.0.0.1', '2001:db8::/32', 'fe80::/10'] };
    const forms = ['10.0.0.1:8080', ' 10.0.0.1 ', '[2001:db8::1]:443', '[2001:db8::1]', '2001:db8::7', 'fe80::1%eth0'];
    deepEqual(
      await statuses(settings, ...forms.map((form): [string, string, string] => ['9.9.9.9', xff, form])),
      forms.map(() => 403),
    );
    deepEqual(await statuses(settings, ['9.9.9.9', xff, '10.0.0.1:x'], ['9.9.9.9', xff, '010.0.0.1']), [200, 200]);
  });

  it("uses the connection's address if no address headers are configured", async () => {
    deepEqual(await statuses({ CIDR, client_ip_headers: [] }, ['9.9.9.9', xff, '10.0.0.1'], ['10.0.0.1']), [200, 403]);
  });

  it('ignores the host bits of a range', async () => {
    deepEqual(await statuses({ CIDR: ['10.1.2.3/16'] }, ['10.1.255.255'], ['10.2.0.0']), [403, 200]);
  });

  it('rejects or accepts all clients if the list is empty, with a warning', async () => {
    deepEqual(
      [await statuses({ CIDR: [], allow: true }, ['1.1.1.1']), await statuses({ CIDR: [] }, ['1.1.1.1'])],
      [[403], [200]],
    );
    deepEqual(await warningsOf(filter({ CIDR: [], client_ip_headers: [] })), ['IP_FILTER_EMPTY']);
  });

  it('is rejected if it has an invalid range in any field', async () => {
    deepEqual(await faultsOf({ CIDR: ['10.0.0.0/8', '10.0.0.0/33'] }), ['IP_FILTER_RANGE /ip-filter/CIDR/1']);
    deepEqual(await faultsOf({ CIDR: [], trusted_proxies: ['proxy'] }), [
      'IP_FILTER_RANGE /ip-filter/trusted_proxies/0',
    ]);
    equal((await faultsOf({ cidr: [] })).length > 0, true);
    equal((await faultsOf({})).length, 1);
    deepEqual(await faultsOf({ CIDR: ['10.0.0.1'], '@why': 1, client_ip_headers: [] }), []);
  });

  it('warns if any client can forge its address', async () => {
    deepEqual(await warningsOf(filter({ CIDR })), ['IP_FILTER_SPOOFABLE']);
    deepEqual(await warningsOf(filter({ CIDR, trusted_proxies: ['10.0.0.0/8'] })), []);
    deepEqual(await warningsOf({ name: [], 'ip-filter': { CIDR } }), ['PLUGIN_UNUSED']);
  });

  it('is rejected under a name that is misspelled', async () => {
    for (const slip of [{ 'ip-fliter': { CIDR } }, { nmae: ['ip-filter'], 'ip-filter': { CIDR } }]) {
      const gate = openHarness(server, 'service', { name: ['ip-filter'], ...slip });
      equal(
        await gate.then(
          () => '',
          (error) => error.errors[0].code,
        ),
        'PLUGIN_FIELD',
      );
    }
  });

  it('is rejected if it is listed without settings', async () => {
    const gate = openHarness(server, 'service', { name: ['ip-filter'] });
    equal(
      await gate.then(
        () => '',
        (error) => error.errors[0].code,
      ),
      'PLUGIN_SETTINGS',
    );
  });

  it('logs each address at most once a second', async () => {
    let now = 0;
    const lines: string[] = [];
    const log = { at: () => log, debug() {}, info() {}, warning: (line: string) => lines.push(line), error() {} };
    const services = { clock: { now: () => now }, log: log as never };
    const gate = await openHarness(server, 'service', filter({ CIDR, client_ip_headers: [] }), { services });
    for (const at of [0, 500, 1000]) {
      now = at;
      await gate.send(makeRequest({ ip: '10.0.0.1' }));
    }
    deepEqual(lines, ['rejected 10.0.0.1', 'rejected 10.0.0.1']);
    // The number of lines is limited, so that rejected addresses cannot fill the log.
    now = 2000;
    for (let at = 0; at < 100; at++) await gate.send(makeRequest({ ip: `10.0.1.${at}` }));
    equal(lines.length, 2 + 20);
    now = 3000;
    await gate.send(makeRequest({ ip: '10.0.2.1' }));
    equal(lines.at(-1), 'rejected 10.0.2.1');
    await gate.close();
  });
});

describe('the plugin "ip-filter" in a gateway', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(() => gateway.close());

  const at = (endpoint: string, config: object = {}, backends: object[] = [{ url_pattern: '/' }]) => ({
    endpoint,
    backend: backends,
    extra_config: config,
  });
  const statusOf = async (url: string, headers: object = {}) =>
    (await gateway.inject({ url, headers, remoteAddress: '9.9.9.9' } as never)).statusCode;
  const own = { client_ip_headers: ['X-Client'] };

  it('applies to every path at the root except CORS preflights, and is named in the access log', async () => {
    const sinks = rememberingSinks();
    gateway = await startGateway(
      {
        host: [backend.url],
        endpoints: [at('/a')],
        extra_config: {
          'plugin/http-server': filter({ CIDR, allow: true, client_ip_headers: [] }),
          'security/cors': { allow_origins: ['https://a.example'] },
        },
      },
      { sinks },
    );
    const requested = backend.requests.length;
    deepEqual([await statusOf('/__health'), await statusOf('/a'), await statusOf('/none')], [403, 403, 403]);
    equal(backend.requests.length, requested);
    const preflight = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
    equal((await gateway.inject({ method: 'OPTIONS', url: '/a', headers: preflight })).statusCode, 204);
    equal(
      sinks.lines.some((line) => line.includes('[PLUGIN: ip-filter] rejected 9.9.9.9')),
      true,
    );
    equal(
      sinks.lines.some((line) => line.includes('handled_by=ip-filter')),
      true,
    );
  });

  it('at an endpoint applies only to this endpoint, before authentication', async () => {
    const files = {
      'auth/validator': { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json', disable_jwk_security: true },
    };
    const guarded = { ...files, 'plugin/req-resp-modifier': filter({ CIDR, ...own }) };
    gateway = await startGateway({ host: [backend.url], endpoints: [at('/a', guarded), at('/b')] });
    const listed = { 'x-client': '10.0.0.7' };
    deepEqual([await statusOf('/a', listed), await statusOf('/a'), await statusOf('/b', listed)], [403, 401, 200]);
  });

  it('at a backend rejects calls to this backend only', async () => {
    const one = {
      url_pattern: '/',
      group: 'a',
      extra_config: { 'plugin/req-resp-modifier': filter({ CIDR, ...own }) },
    };
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [at('/one', {}, [one]), at('/two', {}, [one, { url_pattern: '/', group: 'b' }])],
    });
    const headers = { 'x-client': '10.0.0.7' };
    deepEqual([await statusOf('/one', headers), await statusOf('/one')], [403, 200]);
    const partial = await gateway.inject({ url: '/two', headers });
    deepEqual([partial.json(), partial.headers['x-gateway-completed']], [{ b: { ok: true } }, 'false']);
  });

  it("defaults to the router's settings for headers and proxies", async () => {
    gateway = await startGateway({
      host: [backend.url],
      endpoints: [at('/a')],
      extra_config: {
        router: { forwarded_by_client_ip: true, trusted_proxies: ['9.9.9.9'], remote_ip_headers: ['X-Hop'] },
        'plugin/http-server': filter({ CIDR }),
      },
    });
    deepEqual(
      [await statusOf('/a', { 'x-hop': '10.0.0.7' }), await statusOf('/a', { 'x-real-ip': '10.0.0.7' })],
      [403, 200],
    );
  });

  it('applies changes on a reload', async () => {
    const config = (list: string[]) => ({
      version: 3,
      host: [backend.url],
      endpoints: [at('/a')],
      extra_config: { 'plugin/http-server': filter({ CIDR: list, client_ip_headers: [] }) },
    });
    gateway = await startGateway(config(['9.9.9.9']));
    equal(await statusOf('/a'), 403);
    await gateway.reload(config(['9.9.9.8']));
    equal(await statusOf('/a'), 200);
  });
});

describe('the names of built-in modifiers', () => {
  it('determine their order', async () => {
    const gate = await openHarness(modifier, 'endpoint', {
      name: ['ip-filter', 'content-replacer'],
      'ip-filter': { CIDR, client_ip_headers: [] },
      'content-replacer': { a: { find: 'x', replace: 'y' } },
    });
    equal((await gate.send(makeRequest({ ip: '10.0.0.1' }))).status, 403);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
  });
});
