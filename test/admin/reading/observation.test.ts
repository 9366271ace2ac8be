import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { Operations } from '#kernel';
import type { Caller } from '../../../admin/caller.ts';
import { json, openGateway, partsOf, startBackend, type TestBackend } from '../../support/gateway.ts';
import { eventually, openStream, type StreamedResponse } from '../../support/stream-client.ts';
import { openReading, type ReadingPort } from './support.ts';

/** Time that the slow backend takes, in milliseconds. */
const SLOW_MS = 100;

const limit = { 'qos/ratelimit/router': { max_rate: 1000, capacity: 1000 } };
const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 10, max_errors: 3 } };

// biome-ignore lint/suspicious/noExplicitAny: events as they come over the wire.
type Observation = any;

describe('GET /v1/routes/observation', () => {
  let quick: TestBackend;
  let slow: TestBackend;
  let gateway: Operations;
  let admin: ReadingPort;
  let origin: string;
  let caller: Caller | null;
  let streams: StreamedResponse[];

  const configuration = () => {
    const backend = ({ url }: TestBackend, components: object = {}) => {
      return { host: [url], url_pattern: '/', method: 'GET', extra_config: components };
    };
    const headers = { input_headers: ['*'], input_query_strings: ['*'] };
    return {
      version: 4,
      endpoints: [
        { endpoint: '/plain', ...headers, backend: [backend(quick)] },
        { endpoint: '/posted', method: 'POST', ...headers, backend: [{ ...backend(quick), method: 'POST' }] },
        {
          endpoint: '/several',
          backend: [
            { ...backend(quick, { 'qos/http-cache': {}, ...breaker }), group: 'quick' },
            { ...backend(slow, breaker), group: 'slow' },
          ],
          extra_config: limit,
        },
      ],
    };
  };

  beforeEach(async () => {
    quick = await startBackend(json({ name: 'quick', password: 'hidden-in-body' }));
    slow = await startBackend((_seen, response) => {
      setTimeout(() => response.setHeader('content-type', 'application/json').end('{"name":"slow"}'), SLOW_MS);
    });
    gateway = await openGateway(configuration() as never);
    const { port } = await gateway.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${port}`;
    caller = { id: 'operator', scopes: ['read', 'secrets'], sha256: '' };
    streams = [];
    admin = await openReading(gateway, () => caller);
  });
  afterEach(async () => {
    for (const stream of streams) stream.leave();
    await admin.close();
    await gateway.close();
    await Promise.all([quick.close(), slow.close()]);
  });

  const path = (id: string) => `/v1/routes/observation?endpoint=${encodeURIComponent(id)}`;
  const observersOf = (id: string) =>
    partsOf(gateway).generations.current.runtime.compiled.published.find(
      ({ endpoint }) => `${endpoint.method} ${endpoint.endpoint}` === id,
    )?.traffic.observer;

  async function observe(id: string): Promise<StreamedResponse> {
    const stream = await openStream(admin.port, path(id));
    streams.push(stream);
    if (stream.status === 200) await stream.until('data:');
    return stream;
  }

  const eventsOf = ({ bytes }: StreamedResponse): Observation[] =>
    [...bytes.toString().matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  const requestsOf = (stream: StreamedResponse): Observation[] => eventsOf(stream).flatMap(({ requests }) => requests);

  /** Lets the next events pass until a condition holds. */
  async function until(isSo: () => boolean): Promise<void> {
    await eventually(() => {
      if (isSo()) return true;
      admin.timers.advance(500);
      return false;
    });
  }

  it('names the stages of the pipe in order, with the time that each one took', async () => {
    // The first request opens connections and compiles the pipe, which takes longer than the backend on a busy machine.
    await (await fetch(`${origin}/several`)).text();
    const stream = await observe('GET /several');
    const response = await fetch(`${origin}/several`);
    equal(response.status, 200);
    await response.text();
    await until(() => requestsOf(stream).length === 1);
    const [{ stages }] = eventsOf(stream);
    deepEqual(
      stages.around.map(({ namespace }: Observation) => namespace),
      ['qos/ratelimit/router'],
    );
    deepEqual(
      stages.backends.map((each: Observation) => each.stages.map(({ namespace }: Observation) => namespace)),
      [
        ['qos/circuit-breaker', 'qos/http-cache', 'backend/http/client'],
        ['qos/circuit-breaker', 'backend/http/client'],
      ],
    );
    const [{ status, durationMs, completed, sample }] = requestsOf(stream);
    deepEqual([status, completed], [200, true]);
    const { pipeUs, aroundUs, backends } = sample.times;
    const [fast, late] = backends;
    ok(durationMs * 1000 >= pipeUs && pipeUs >= late.totalUs, 'the whole includes its parts');
    ok(late.totalUs >= (SLOW_MS - 2) * 1000 && late.totalUs > fast.totalUs, 'the slow backend stands out');
    ok(late.stagesUs[1] > late.totalUs / 2, 'its time is spent in its protocol');
    ok(late.stagesUs[0] < late.totalUs / 2, 'and not in the component around it');
    ok(aroundUs[0] < late.totalUs / 2, 'or in the one around all backends');
    deepEqual([fast.calls, late.calls], [1, 1]);
  });

  it('shows the states of the limiter, the breakers and the cache', async () => {
    const stream = await observe('GET /several');
    await (await fetch(`${origin}/several`)).text();
    await until(() => requestsOf(stream).length === 1);
    const { states } = eventsOf(stream).at(-1);
    deepEqual(
      states.map(({ namespace, backend, state: { availableRequests, storedBytes, ...state } }: Observation) => {
        ok(availableRequests === undefined || (availableRequests >= 999 && availableRequests <= 1000));
        ok(storedBytes === undefined || storedBytes >= 0);
        return [namespace, backend, state];
      }),
      [
        ['qos/ratelimit/router', null, { burstRequests: 1000 }],
        ['qos/http-cache', 0, { storedResponses: 0, limitBytes: 67_108_864 }],
        ['qos/circuit-breaker', 0, { state: 'closed', consecutiveFailures: 0, toleratedFailures: 3 }],
        ['qos/circuit-breaker', 1, { state: 'closed', consecutiveFailures: 0, toleratedFailures: 3 }],
      ],
    );
  });

  it('masks credentials in headers, queries and bodies', async () => {
    const stream = await observe('POST /posted');
    const headers = { authorization: 'Bearer hidden-token', cookie: 'id=hidden', 'content-type': 'application/json' };
    const body = JSON.stringify({ user: 'ann', password: 'hidden-password' });
    await (await fetch(`${origin}/posted?token=hidden-query&page=2`, { method: 'POST', headers, body })).text();
    await until(() => requestsOf(stream).length === 1);
    ok(!stream.bytes.toString().includes('hidden'), stream.bytes.toString());
    const [{ method, target, sample }] = requestsOf(stream);
    deepEqual([method, target], ['POST', '/posted?token=***&page=2']);
    ok(sample.request.headers.some((header: string[]) => header.join() === 'authorization,***'));
    deepEqual(JSON.parse(sample.request.body), { user: 'ann', password: '***' });
    deepEqual(JSON.parse(sample.response.body), { name: 'quick', password: '***' });
  });

  it('masks the header and the fields that components declare as credentials', async () => {
    const { endpoints } = configuration();
    const keys = { identifier: 'X-Ticket', strategy: 'header', keys: [{ key: 'plain-key', roles: ['user'] }] };
    await gateway.reload({
      version: 4,
      extra_config: { 'auth/api-keys': keys, 'telemetry/recorder': { sample_rate: 0, fields: ['user'] } },
      endpoints: [{ ...endpoints[1], extra_config: { 'auth/api-keys': { roles: ['user'] } } }],
    } as never);
    const stream = await observe('POST /posted');
    const headers = { 'x-ticket': 'plain-key', 'content-type': 'application/json' };
    const response = await fetch(`${origin}/posted`, { method: 'POST', headers, body: '{"user":"ann"}' });
    equal(response.status, 200);
    await response.text();
    await until(() => requestsOf(stream).length === 1);
    const [{ sample }] = requestsOf(stream);
    ok(sample.request.headers.some((header: string[]) => header.join() === 'x-ticket,***'));
    equal(sample.request.body, '{"user":"***"}');
  });

  it('omits headers and bodies for a token without the scope secrets', async () => {
    caller = { id: 'reader', scopes: ['read'], sha256: '' };
    const stream = await observe('GET /plain');
    await (await fetch(`${origin}/plain`, { headers: { 'x-name': 'of-client' } })).text();
    await until(() => requestsOf(stream).length === 1);
    const [{ sample }] = requestsOf(stream);
    deepEqual([sample.request, sample.response], [null, null]);
    ok(sample.times.pipeUs > 0);
    ok(!stream.bytes.toString().includes('of-client'));
  });

  it('samples some of many requests, and counts all', async () => {
    const stream = await observe('GET /plain');
    const calls = 60;
    await Promise.all(Array.from({ length: calls }, async () => (await fetch(`${origin}/plain`)).text()));
    const finished = () => eventsOf(stream).reduce((sum, event) => sum + event.finished, 0);
    await until(() => finished() === calls && eventsOf(stream).some(({ traffic }) => traffic?.calls > 0));
    const sampled = requestsOf(stream).filter(({ sample }) => sample !== null);
    ok(sampled.length >= 1 && sampled.length < calls / 2, `${sampled.length} are sampled`);
    ok(requestsOf(stream).length > sampled.length, 'the slowest of the others are reported, too');
    const traffic = eventsOf(stream).flatMap((event) => event.traffic ?? []);
    equal(
      traffic.reduce((sum, { calls }) => sum + calls, 0),
      calls,
    );
  });

  it('ends with its reader, without a trace in the serving process', async () => {
    const stream = await observe('GET /plain');
    const other = await openStream(admin.port, path('GET /plain'));
    streams.push(other);
    ok(observersOf('GET /plain'));
    stream.leave();
    await until(() => eventsOf(other).length > 0);
    other.leave();
    await eventually(() => !observersOf('GET /plain'));
    equal((await fetch(`${origin}/plain`)).status, 200);
  });

  it('continues across a reload, and ends if the endpoint is removed', async () => {
    const stream = await observe('GET /plain');
    await gateway.reload({ ...configuration(), timeout: '3s' } as never);
    await until(() => eventsOf(stream).at(-1).revision === gateway.status.revision);
    await (await fetch(`${origin}/plain`)).text();
    await until(() => requestsOf(stream).length === 1);
    await gateway.reload({ version: 4, endpoints: configuration().endpoints.slice(1) } as never);
    let isOver: boolean | undefined;
    void stream.ended().then((complete) => {
      isOver = complete;
    });
    await until(() => isOver !== undefined);
    equal(isOver, true);
    equal((await admin.ask(path('GET /plain'))).status, 404);
  });

  it('ends if its token is revoked', async () => {
    const stream = await observe('GET /plain');
    caller = null;
    let isOver = false;
    void stream.ended().then(() => {
      isOver = true;
    });
    await until(() => isOver);
    await eventually(() => !observersOf('GET /plain'));
  });

  it('requires an endpoint that exists, and observes at most 16 of them', async () => {
    equal((await admin.ask('/v1/routes/observation')).status, 400);
    const missing = await admin.ask(path('GET /<img>'));
    equal(missing.status, 404);
    match(missing.body.detail, /"GET \/<img>" does not exist/);
    const [plain] = configuration().endpoints;
    const many = Array.from({ length: 17 }, (_, at) => ({ ...plain, endpoint: `/many${at}` }));
    await gateway.reload({ version: 4, endpoints: many } as never);
    for (let at = 0; at < 16; at++) equal((await observe(`GET /many${at}`)).status, 200);
    equal((await admin.ask(path('GET /many16'))).status, 429);
  });
});
