import { deepEqual, equal, match, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { ShadowReport } from '../../kernel/control/shadow-report.ts';
import { ask } from '../kernel/server/ask.ts';
import { until } from '../support/conditions.ts';
import { type SeenRequest, startBackend, type TestBackend } from '../support/gateway.ts';
import { command } from '../support/programs.ts';
import { openAdmin, type TestAdmin, type TestAdminOptions } from './support.ts';

const user = { id: 1, name: 'Ada', email: 'ada@example.test' };

describe('a shadow run', function () {
  // Each run starts a process.
  this.timeout(60_000);
  let backend: TestBackend;
  let one: TestAdmin;
  let held: ServerResponse[];
  let hits: number;
  beforeEach(async () => {
    held = [];
    hits = 0;
    backend = await startBackend(respond);
  });
  afterEach(async () => {
    for (const response of held) response.destroy();
    await one.close();
    await backend.close();
  });

  const answers: Readonly<Record<string, (seen: SeenRequest, response: ServerResponse) => void>> = {
    '/large': (_seen, response) => void send(response, { ...user, text: 'a'.repeat(5000) }),
    '/held': (_seen, response) => void held.push(response),
    '/changing': (_seen, response) => void send(response, { ...user, at: ++hits }),
  };
  const send = (response: ServerResponse, data: object) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(data));

  function respond(seen: SeenRequest, response: ServerResponse): void {
    const answer = answers[seen.target.replace(/\?.*$/, '')];
    if (answer) answer(seen, response);
    else send(response, user);
  }

  const at = (url_pattern: string, more: object = {}) => ({ host: [backend.url], url_pattern, ...more });
  const source = (allow: readonly string[] | null, more: object = {}) => ({
    version: 3,
    endpoints: [
      { endpoint: '/users/{id}', backend: [at('/v1/users/{id}', allow ? { allow } : {})], ...more },
      { endpoint: '/changing', backend: [at('/changing')], ...more },
      { endpoint: '/held', backend: [at('/held')] },
      { endpoint: '/orders', method: 'POST', backend: [at('/orders')] },
    ],
  });
  const careful = ['id', 'name'];

  async function open(first: object = source(careful), gateway: TestAdminOptions['gateway'] = {}): Promise<void> {
    one = await openAdmin(first, { gateway: { program: command, ...gateway } });
  }
  const put = (query: string, body: object) => one.ask(`/v1/config?${query}`, { method: 'PUT', body });
  const report = async (): Promise<ShadowReport> => (await one.ask('/v1/shadow')).body;
  const stop = async (): Promise<ShadowReport> => (await one.ask('/v1/shadow', { method: 'DELETE' })).body;
  const start = async (body: object, query = 'shadow=1h&sample=100%'): Promise<ShadowReport> => {
    const { status, body: applied, text } = await put(query, body);
    equal(status, 200, text);
    return applied.shadow;
  };
  const get = async (path: string, init: RequestInit = {}) =>
    (await fetch(`http://127.0.0.1:${one.gateway.processes.port}${path}`, init)).text();
  const compared = (count: number) => until(async () => (await report()).compared >= count);
  /** The event stream, as far as it is stored. */
  const events = (types: string): readonly object[] => {
    const all: object[] = [];
    one.gateway.events.subscribe({ after: 0, types: [types] }, ({ type, data }) => void all.push({ type, data }));
    return all;
  };

  it('finds a field that becomes visible, without values, and does not activate the configuration', async () => {
    await open();
    const { status, body, headers, text } = await put('shadow=1h&sample=100%', source(null));
    equal(status, 200, text);
    deepEqual([body.result, body.shadow.state], ['dry_run', 'running']);
    equal(headers['location'], `/v1/attempts/${body.attempt}`);
    for (let id = 1; id <= 3; id++) equal(await get(`/users/${id}`), '{"id":1,"name":"Ada"}');
    await compared(3);
    const result = await stop();
    deepEqual(result.changes, [
      {
        endpoint: 'GET /users/{id}',
        cause: 'visible',
        at: 'email',
        requests: 3,
        settings: [{ op: 'remove', pointer: '/endpoints/0/backend/0/allow' }],
      },
    ]);
    deepEqual([result.state, result.compared, result.different, result.unstable], ['stopped', 3, 3, 0]);
    equal(JSON.stringify(result).includes('ada@'), false);
    deepEqual([one.gateway.status.revision, (await report()).state], [1, 'stopped']);
    deepEqual((await one.ask(`/v1/attempts/${body.attempt}`)).body.shadow, result);
    const types = events('shadow.*').map((event) => (event as { type: string }).type);
    deepEqual(types, ['shadow.started', 'shadow.difference', 'shadow.finished']);
    match(
      one.lines.join('\n'),
      /shadow run of attempt 2 has ended: stopped by an operator; 3 of 3 compared responses differ/,
    );
  });

  it('ends by itself, and finds nothing if responses are equal', async () => {
    await open();
    await start(source(careful, { timeout: '1s' }), 'shadow=1s&sample=100%');
    await get('/users/1');
    await until(async () => (await report()).state === 'finished');
    const { compared: all, different, changes, reason } = await report();
    deepEqual([all, different, changes, reason], [1, 0, [], null]);
  });

  it('does not report values that differ between requests with the active configuration, too', async () => {
    await open();
    await start(source(careful, { timeout: '1s' }));
    await get('/changing');
    await compared(1);
    const { different, unstable, changes } = await stop();
    deepEqual([different, unstable, changes], [0, 1, []]);
    // The candidate, the active configuration again, and the candidate again.
    equal(hits, 4);
  });

  it('copies credentials to the candidate, and shows them nowhere', async () => {
    const withHeader = { input_headers: ['Authorization'], input_query_strings: ['key'] };
    await open(source(careful, withHeader));
    await start(source(null, withHeader));
    await get('/users/1?key=s3cr3t', { headers: { authorization: 'Bearer t0k3n' } });
    await compared(1);
    const shown = JSON.stringify([await stop(), events('*'), one.lines]);
    const sent = backend.requests.filter(({ headers }) => headers.authorization === 'Bearer t0k3n');
    deepEqual(new Set(sent.map(({ target }) => target)), new Set(['/v1/users/1?key=s3cr3t']));
    ok(sent.length >= 2);
    equal(/s3cr3t|t0k3n/.test(shown), false);
  });

  it('never copies requests with unsafe methods or a body', async () => {
    await open();
    await start(source(null));
    await get('/orders', { method: 'POST', body: '{}' });
    await get('/users/1', { method: 'HEAD' });
    await compared(1);
    await stop();
    equal(backend.requests.filter(({ method }) => method === 'POST').length, 1);
  });

  it('sends POST to a backend only with shadow_methods=any', async () => {
    const posting = {
      ...source(careful),
      endpoints: [{ endpoint: '/users/{id}', backend: [at('/v1/users/{id}', { method: 'POST' })] }],
    };
    await open();
    await start(posting);
    await get('/users/1');
    await until(async () => (await report()).refused === 1);
    const { different, refusals } = await stop();
    deepEqual([different, refusals], [0, [`POST ${backend.url}`]]);
    equal(
      backend.requests.some(({ method }) => method === 'POST'),
      false,
    );
    await start(posting, 'shadow=1h&sample=100%&shadow_methods=any');
    await get('/users/1');
    await compared(1);
    // The candidate has no list of allowed fields.
    equal((await stop()).different, 1);
    ok(backend.requests.some(({ method }) => method === 'POST'));
  });

  it('skips requests whose client disconnects before the end of the response', async () => {
    await open();
    await start(source(null));
    const client = new AbortController();
    const request = get('/held', { signal: client.signal }).catch(() => null);
    await until(() => held.length === 1);
    client.abort();
    await request;
    await until(async () => (await report()).skipped.incomplete === 1);
    equal((await stop()).compared, 0);
  });

  it('compares compressed responses by their content', async () => {
    await open();
    const { endpoints, ...rest } = source(careful);
    const [first, ...others] = endpoints;
    const shorter = [{ ...first, backend: [at('/large', { deny: ['email'] })] }, ...others];
    await put('', { ...rest, endpoints: [{ ...first, backend: [at('/large')] }, ...others] });
    await start({ ...rest, endpoints: shorter });
    const codings = ['gzip', 'br', 'zstd', 'identity'];
    for (const coding of codings) {
      const { headers } = await ask(one.gateway.processes.port!, 'GET /users/1', {
        headers: { 'accept-encoding': coding },
      });
      equal(headers['content-encoding'] ?? 'identity', coding);
    }
    await compared(codings.length);
    const { changes } = await stop();
    deepEqual(
      changes.map(({ cause, at: field, requests }) => [cause, field, requests]),
      [['missing', 'email', codings.length]],
    );
  });

  it('rejects a second run with 409 while one is in progress', async () => {
    await open();
    await start(source(null));
    const { status, body } = await put('shadow=1m', source(['id']));
    deepEqual([status, body.type], [409, 'urn:gateway:problem:shadow-running']);
    await stop();
    equal((await put('shadow=1m', source(['id']))).status, 200);
  });

  it('ends when another configuration is activated', async () => {
    await open();
    await start(source(null));
    equal((await put('', source(['id']))).body.result, 'applied');
    await until(async () => (await report()).state !== 'running');
    const { state, reason } = await report();
    deepEqual([state, reason], ['superseded', 'revision 2 has replaced revision 1']);
    await get('/users/1');
    equal((await report()).compared, 0);
  });

  it('does not run for a configuration that is not valid, or that is already active', async () => {
    await open();
    equal((await put('shadow=1m', { version: 3, endpoints: [{ endpoint: 'x' }] })).status, 422);
    deepEqual((await put('shadow=1m', source(careful))).body.shadow, null);
    equal((await one.ask('/v1/shadow')).status, 404);
  });

  it('rejects parameters that are not valid', async () => {
    await open();
    const wrong = {
      'sample=5%': 'sample requires shadow',
      'shadow_methods=any': 'shadow_methods requires shadow',
      'shadow=x': 'the query parameter shadow must be a duration such as 10m',
      'shadow=1ms': 'shadow must be 1s to 24h',
      'shadow=1m&sample=0%': 'sample must be a percentage such as 5%, above 0 and at most 100%, or a fraction',
      'shadow=1m&sample=2': 'sample must be a percentage such as 5%, above 0 and at most 100%, or a fraction',
      'shadow=1m&guard=1m': 'guard cannot be combined with shadow, which does not activate the configuration',
    };
    for (const [query, detail] of Object.entries(wrong)) {
      const { status, body } = await put(query, source(null));
      deepEqual([status, body.detail], [400, detail], query);
    }
  });
});
