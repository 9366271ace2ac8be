import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Candidate, type ShadowOrder } from '../../../../kernel/cases/shadow/candidate.ts';
import type { Sample } from '../../../../kernel/server/exchange/sample.ts';
import { catalogue } from '../../../../plugins/index.ts';
import { until } from '../../../support/conditions.ts';
import { json, type SeenRequest, startBackend, type TestBackend } from '../../../support/gateway.ts';

/** The process of the tests has used more processor time than a candidate may. */
const idle = { now: () => performance.now(), cpuMs: () => 0 };

describe('the candidate of a shadow run', function () {
  this.timeout(20_000);
  let backend: TestBackend;
  let other: Server;
  let accepted: Socket[];
  let candidate: Candidate;
  let answer: (seen: SeenRequest, response: ServerResponse) => void;
  before(async () => {
    backend = await startBackend((seen, response) => answer(seen, response));
    other = createServer((socket) => void accepted.push(socket)).listen(0, '127.0.0.1');
    await until(() => other.listening);
  });
  beforeEach(() => {
    accepted = [];
    answer = json({ id: 1, name: 'Ada' });
  });
  afterEach(() => candidate?.close());
  after(async () => {
    other.close();
    await backend.close();
  });

  const source = (endpoint: object = {}, root: object = {}) => ({
    version: 3,
    timeout: '20s',
    host: [backend.url],
    endpoints: [{ endpoint: '/users/{id}', backend: [{ url_pattern: '/users/{id}' }], ...endpoint }],
    ...root,
  });
  const sent = (config: object) => ({ text: JSON.stringify(config), format: 'json' as const, secrets: [] });
  const order = (next: object, baseline: object = source(), more: Partial<ShadowOrder> = {}): ShadowOrder => ({
    next: sent(next),
    baseline: sent(baseline),
    pluginFolder: null,
    denied: [],
    sendsAnyMethod: false,
    ...more,
  });
  const open = async (next: object, baseline?: object, more?: Partial<ShadowOrder>): Promise<void> => {
    candidate = await Candidate.open(catalogue, order(next, baseline, more), idle);
  };
  const sample = (url = '/users/1', body: object = { id: 1, name: 'Ada' }, status = 200): Sample => ({
    revision: 1,
    request: { method: 'GET', url, headers: ['Host', 'localhost:8080'], address: '192.0.2.7', isEncrypted: true },
    response: {
      status,
      headers: [
        ['content-type', 'application/json; charset=utf-8'],
        ['x-krakend-completed', 'true'],
      ],
      body: Buffer.from(JSON.stringify(body)),
    },
  });
  const changes = () => candidate.findings.changes.map(({ endpoint, cause, at }) => [endpoint, cause, at]);
  const portOf = () => (other.address() as { port: number }).port;

  it('groups differences by endpoint and cause', async () => {
    await open(source({ backend: [{ url_pattern: '/users/{id}', mapping: { name: 'title' } }] }));
    for (const id of [1, 2]) equal(await candidate.take(sample(`/users/${id}`)), 'compared');
    deepEqual(changes(), [
      ['GET /users/{id}', 'missing', 'name'],
      ['GET /users/{id}', 'visible', 'title'],
    ]);
    const [first] = candidate.findings.changes;
    equal(first!.requests, 2);
    ok(first!.settings.some(({ pointer }) => pointer === '/endpoints/0/backend/0/mapping'));
  });

  it('reports requests that only one of the configurations has an endpoint for', async () => {
    await open(source({ endpoint: '/people/{id}' }));
    await candidate.take(sample('/users/7?secret=1'));
    await candidate.take(sample('/nowhere', {}, 404));
    deepEqual(changes()[0], ['GET /users/{id}', 'status', '']);
    equal(JSON.stringify(candidate.findings).includes('secret'), false);
  });

  it('sees the address of the client, and whether the connection was encrypted', async () => {
    const forwarding = source({ input_headers: ['X-Forwarded-For', 'X-Forwarded-Proto'] });
    await open({ ...forwarding, extra_config: { 'security/http': { ssl_redirect: true } } }, forwarding);
    const seen = backend.requests.length;
    await candidate.take(sample());
    const { headers } = backend.requests[seen]!;
    equal(headers['x-forwarded-for'], '192.0.2.7');
    equal(
      candidate.findings.changes.some(({ cause }) => cause === 'status'),
      false,
    );
  });

  it('does not compare requests that the active configuration rejected because of a limit', async () => {
    await open(source());
    equal(await candidate.take(sample('/users/1', {}, 429)), 'limited');
    equal(candidate.findings.compared, 0);
  });

  it('does not repeat requests for paths of the gateway itself', async () => {
    await open(source());
    equal(await candidate.take(sample('/__health')), 'unsuitable');
  });

  it('skips requests while it has used up its processor time', async () => {
    let cpuMs = 0;
    candidate = await Candidate.open(catalogue, order(source()), { now: () => 0, cpuMs: () => cpuMs });
    equal(await candidate.take(sample()), 'compared');
    cpuMs = 1001;
    const seen = backend.requests.length;
    equal(await candidate.take(sample()), 'budget');
    equal(backend.requests.length, seen);
    equal(candidate.findings.cpuMs, 1001);
  });

  it('opens no connections but those of requests to backends', async () => {
    const redis = { connection_pools: [{ name: 'counters', address: `127.0.0.1:${portOf()}` }] };
    const limit = {
      'qos/ratelimit/router/redis': {
        connection_name: 'counters',
        on_failure_allow: false,
        client_max_rate: 1,
        strategy: 'ip',
        every: '1h',
      },
    };
    await open(source({ extra_config: limit }, { extra_config: { redis } }));
    await candidate.take(sample());
    deepEqual(accepted, []);
    const { refused, refusals, changes: found } = candidate.findings;
    deepEqual([refused, refusals, found], [1, ['redis connection of counters'], []]);
  });

  it('compares requests for which the same is refused to both configurations', async () => {
    const redis = { connection_pools: [{ name: 'counters', address: `127.0.0.1:${portOf()}` }] };
    const limit = (allows: boolean) => ({
      extra_config: {
        'qos/ratelimit/router/redis': {
          connection_name: 'counters',
          on_failure_allow: allows,
          client_max_rate: 1,
          strategy: 'ip',
        },
      },
    });
    const root = { extra_config: { redis } };
    const denying = { backend: [{ url_pattern: '/users/{id}', deny: ['name'] }] };
    await open(source({ ...limit(true), ...denying }, root), source(limit(true), root));
    await candidate.take(sample());
    deepEqual(changes(), [['GET /users/{id}', 'missing', 'name']]);
    await candidate.close();
    await open(source({ ...limit(false), ...denying }, root), source(limit(false), root));
    await candidate.take(sample());
    deepEqual([candidate.findings.refused, changes()], [1, []]);
    deepEqual(accepted, []);
  });

  it('starts no agents and exports nothing', async () => {
    const agents = [
      {
        name: 'queue',
        consumer: { topic: '*', workers: 1 },
        backend: [{ url_pattern: '/agent' }],
        extra_config: {
          'async/amqp': {
            name: 'q',
            host: `amqp://127.0.0.1:${portOf()}`,
            exchange: 'e',
            durable: false,
            delete: false,
            exclusive: false,
            no_wait: false,
          },
        },
      },
    ];
    const otlp = { exporters: { otlp: [{ name: 'x', host: '127.0.0.1', port: portOf(), use_http: true }] } };
    await open(source({}, { async_agent: agents, extra_config: { 'telemetry/opentelemetry': otlp } }));
    await candidate.take(sample());
    await candidate.close();
    deepEqual(accepted, []);
  });

  it('does not reach addresses of the gateway itself', async () => {
    const { hostname: address, port } = new URL(backend.url);
    await open(source(), source(), { denied: [{ address, port: Number(port) }] });
    const seen = backend.requests.length;
    await candidate.take(sample());
    equal(backend.requests.length, seen);
    deepEqual([candidate.findings.unstable, candidate.findings.changes], [1, []]);
  });

  it('uses given values of secrets and does not call their store', async () => {
    const vault = { address: `http://127.0.0.1:${portOf()}`, auth: { method: 'token', token: 'x' } };
    const key = 'vault:secret/data/a#key';
    const modifier = { scope: ['request'], name: 'X-Key', value: `\${${key}}` };
    const extra = { 'modifier/martian': { 'header.Modifier': modifier } };
    const config = source(
      { backend: [{ url_pattern: '/', extra_config: extra }] },
      { extra_config: { 'secrets/vault': vault } },
    );
    const next = { ...sent(config), secrets: [[key, 'k3y']] as const };
    candidate = await Candidate.open(catalogue, { ...order(source()), next }, idle);
    await candidate.take(sample());
    ok(backend.requests.some(({ headers }) => headers['x-key'] === 'k3y'));
    deepEqual(accepted, []);
  });

  it('does not read responses above 1 MiB to their end', async () => {
    answer = (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', write);
      write();
    };
    await open(source({ output_encoding: 'no-op', backend: [{ url_pattern: '/', encoding: 'no-op' }] }));
    equal(await candidate.take(sample()), 'compared');
  });

  it('compares only status and headers if a body cannot be decompressed', async () => {
    await open(source({ backend: [{ url_pattern: '/', deny: ['name'] }] }));
    const { response, ...rest } = sample();
    const headers = [...response.headers, ['content-encoding', 'gzip'] as const];
    await candidate.take({ ...rest, response: { ...response, headers } });
    await candidate.take({ ...rest, response: { ...response, headers, body: gzipSync(Buffer.alloc(2_000_000, ' ')) } });
    equal(
      candidate.findings.changes.some(({ cause }) => cause !== 'header'),
      false,
    );
  });

  it('lists the first 200 differences, and counts the others', async () => {
    const fields = (name: string) => Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`${name}${at}`, at]));
    const backend = [{ url_pattern: '/' }];
    await open(source({ backend }), source({ backend: [{ url_pattern: '/', allow: ['id'] }] }));
    for (const name of ['one', 'two']) {
      answer = json(fields(name));
      await candidate.take(sample('/users/1', {}));
    }
    const { changes: listed, hidden } = candidate.findings;
    deepEqual([listed.length, hidden], [200, 100]);
  });

  it('lists the first 50 refused requests', async () => {
    const host = Array.from({ length: 60 }, (_, at) => `http://host${at}.test`);
    await open(source({ backend: [{ url_pattern: '/', host, method: 'POST' }] }));
    for (let count = 0; count < 60; count++) await candidate.take(sample());
    equal(candidate.findings.refusals.length, 50);
  });

  it('rejects configurations that cannot be built', async () => {
    await rejects(Candidate.open(catalogue, order(source({ endpoint: 'x' }))), /ENDPOINT|endpoint/);
  });
});
