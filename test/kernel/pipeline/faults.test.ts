import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { BackendError, CallError, HeaderBag, Reply, refuse, type Step } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { json, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { type Acts, startPlugged } from '../../support/plugged.ts';

/** A wrap that never calls what it wraps. */
type Ends = () => Step<unknown>;

const throws: Ends = () => () => {
  throw new TypeError('a bug of ours');
};
const rejects: Ends = () => async () => {
  throw new TypeError('a bug of ours');
};
const refuses =
  (status: number, error?: CallError): Ends =>
  () =>
  () =>
    refuse(status, { headers: new HeaderBag(['Retry-After', '7']), ...(error && { error }) });
const denied = new CallError('TEST_DENIED', 'not for you');
const skips: Ends = () => () => {
  const reply = Reply.data(null);
  reply.skipped = true;
  return reply;
};
const responses: Ends = () => () => Reply.failed(new BackendError('TEST', 'teapot', { upstreamStatus: 418 }));

const acts: Acts = {
  endpoint: {
    throws: { endpoint: throws },
    rejects: { endpoint: rejects },
    'throws in the pipe': { proxy: throws },
    'rejects in the pipe': { proxy: rejects },
    refuses: { endpoint: refuses(403) },
    'refuses in the pipe': { proxy: refuses(403) },
    'refuses with a reason': { proxy: refuses(403, denied) },
  },
  backend: {
    throws: { backend: throws },
    rejects: { transport: rejects },
    refuses: { backend: refuses(429) },
    'refuses with a reason': { backend: refuses(429, denied) },
    skips: { backend: skips },
    teapot: { transport: responses },
  },
};

describe('a stage that fails by a fault of ours, or refuses', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  let lines: readonly string[];

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(() => gateway?.close());
  after(() => backend.close());

  /** One request to an endpoint whose component, or whose backends' components, act as named; null for none. */
  const ask = async (endpoint: string | null, backends: readonly (string | null)[], router: object = {}) => {
    const extra = (act: string | null) => (act === null ? {} : { extra_config: { test: { act } } });
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startPlugged(
      {
        host: [backend.url],
        cache_ttl: '1h',
        extra_config: { router },
        endpoints: [
          { endpoint: '/x', ...extra(endpoint), backend: backends.map((act) => ({ url_pattern: '/', ...extra(act) })) },
        ],
      },
      acts,
      { sinks },
    );
    return gateway.inject('/x');
  };

  for (const act of ['throws', 'rejects', 'throws in the pipe', 'rejects in the pipe']) {
    it(`answers 500 with nothing and logs the stack: an endpoint's component ${act}`, async () => {
      const response = await ask(act, [null]);
      deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [500, '', 'false']);
      equal(response.headers['cache-control'], undefined);
      const line = lines.find((text) => text.includes('ERROR: [ENDPOINT: /x] internal server error'));
      match(line ?? '', /TypeError: a bug of ours.*faults\.test\.ts/);
    });
  }

  for (const act of ['throws', 'rejects']) {
    it(`answers 500 with nothing and logs the stack: the backend's component ${act}`, async () => {
      const response = await ask(null, [act]);
      deepEqual([response.statusCode, response.body], [500, '']);
      ok(lines.some((line) => /ERROR: \[ENDPOINT: \/x\] internal server error.*TypeError: a bug of ours/.test(line)));
    });

    it(`answers with the other part and logs the stack: one backend's component ${act}`, async () => {
      const response = await ask(null, [act, null]);
      deepEqual(
        [response.statusCode, response.body, response.headers['x-gateway-completed']],
        [200, '{"a":1}', 'false'],
      );
      ok(lines.some((line) => /ERROR: \[ENDPOINT: \/x\] Error #0: internal server error.*TypeError/.test(line)));
    });
  }

  it('tells the client no more of a fault than that there was one', async () => {
    const response = await ask('throws', [null], { return_error_msg: true });
    deepEqual([response.statusCode, response.body], [500, 'internal server error']);
  });

  it('tells no completeness where a request is rejected before the pipe', async () => {
    const response = await ask('refuses', [null]);
    deepEqual([response.statusCode, response.body, response.headers['content-length']], [403, '', '0']);
    equal(response.headers['x-gateway-completed'], undefined);
    equal(response.headers['retry-after'], '7');
    match(String(response.headers['x-gateway']), /^Version /);
  });

  it('has no body where the pipe refuses, and is not complete', async () => {
    const response = await ask('refuses in the pipe', [null]);
    deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [403, '', 'false']);
    equal(response.headers['content-type'], undefined);
  });

  it("tells a refusal's reason only where error texts are returned", async () => {
    equal((await ask('refuses with a reason', [null])).body, '');
    await gateway?.close();
    const response = await ask('refuses with a reason', [null], { return_error_msg: true });
    deepEqual([response.statusCode, response.body], [403, 'not for you']);
    equal(response.headers['content-type'], 'text/plain; charset=utf-8');
  });

  it("gives the client the refusal of a single backend's component", async () => {
    const response = await ask(null, ['refuses']);
    deepEqual([response.statusCode, response.body, response.headers['retry-after']], [429, '', '7']);
  });

  it('answers with the others where one backend refuses without a reason', async () => {
    const response = await ask(null, ['refuses', null]);
    deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [200, '{"a":1}', 'false']);
    equal(response.headers['cache-control'], undefined);
    ok(lines.some((line) => line.includes('ERROR: [ENDPOINT: /x] Error #0: refused with status 429')));
  });

  it('answers 500 where every backend refuses, with all reasons where error texts are returned', async () => {
    const response = await ask(null, ['refuses', 'refuses with a reason'], { return_error_msg: true });
    deepEqual([response.statusCode, response.body], [500, 'refused with status 429\nnot for you']);
  });

  it('answers 200 with empty data, incomplete, where every backend was skipped', async () => {
    const response = await ask(null, ['skips', 'skips']);
    deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [200, '{}', 'false']);
    await gateway?.close();
    const single = await ask(null, ['skips']);
    deepEqual([single.statusCode, single.body, single.headers['x-gateway-completed']], [200, '{}', 'false']);
  });

  it('is complete where the parts that were not skipped are', async () => {
    const response = await ask(null, ['skips', null]);
    deepEqual([response.body, response.headers['x-gateway-completed']], ['{"a":1}', 'true']);
  });

  it('warns of the status that a protocol of any kind reports', async () => {
    await ask(null, ['teapot']);
    ok(lines.some((line) => line.includes('WARNING: [BACKEND: GET /x -> GET /][Client] Status: 418')));
  });
});
