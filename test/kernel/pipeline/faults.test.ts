import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { BackendError, CallError, HeaderBag, Reply, refuse, type Step } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { json, rememberingSinks, startBackend, type TestBackend } from '../../support/gateway.ts';
import { type Acts, startPlugged } from '../../support/plugged.ts';

/** A hook that never calls the step behind it. */
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

describe('a pipeline stage that throws or rejects', () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  let lines: readonly string[];

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
  });
  afterEach(() => gateway?.close());
  after(() => backend.close());

  /** One request to an endpoint with faulty components at the endpoint or its backends; null for no component. */
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
    it(`is answered 500 without a body, and the stack is logged: an endpoint's component ${act}`, async () => {
      const response = await ask(act, [null]);
      deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [500, '', 'false']);
      equal(response.headers['cache-control'], undefined);
      const line = lines.find((text) => text.includes('ERROR: [ENDPOINT: /x] internal server error'));
      match(line ?? '', /TypeError: a bug of ours.*faults\.test\.ts/);
    });
  }

  for (const act of ['throws', 'rejects']) {
    it(`is answered 500 without a body, and the stack is logged: the backend's component ${act}`, async () => {
      const response = await ask(null, [act]);
      deepEqual([response.statusCode, response.body], [500, '']);
      ok(lines.some((line) => /ERROR: \[ENDPOINT: \/x\] internal server error.*TypeError: a bug of ours/.test(line)));
    });

    it(`is answered with the other backend's data, and the stack is logged: one backend's component ${act}`, async () => {
      const response = await ask(null, [act, null]);
      deepEqual(
        [response.statusCode, response.body, response.headers['x-gateway-completed']],
        [200, '{"a":1}', 'false'],
      );
      ok(lines.some((line) => /ERROR: \[ENDPOINT: \/x\] Error #0: internal server error.*TypeError/.test(line)));
    });
  }

  it('shows the client only "internal server error"', async () => {
    const response = await ask('throws', [null], { return_error_msg: true });
    deepEqual([response.statusCode, response.body], [500, 'internal server error']);
  });

  it('sends no completion header if it rejects before the pipe', async () => {
    const response = await ask('refuses', [null]);
    deepEqual([response.statusCode, response.body, response.headers['content-length']], [403, '', '0']);
    equal(response.headers['x-gateway-completed'], undefined);
    equal(response.headers['retry-after'], '7');
    match(String(response.headers['x-gateway']), /^Version /);
  });

  it('sends no body and an incomplete response if it rejects within the pipe', async () => {
    const response = await ask('refuses in the pipe', [null]);
    deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [403, '', 'false']);
    equal(response.headers['content-type'], undefined);
  });

  it('shows the reason of a rejection only under return_error_msg', async () => {
    equal((await ask('refuses with a reason', [null])).body, '');
    await gateway?.close();
    const response = await ask('refuses with a reason', [null], { return_error_msg: true });
    deepEqual([response.statusCode, response.body], [403, 'not for you']);
    equal(response.headers['content-type'], 'text/plain; charset=utf-8');
  });

  it('passes the rejection of a single backend to the client', async () => {
    const response = await ask(null, ['refuses']);
    deepEqual([response.statusCode, response.body, response.headers['retry-after']], [429, '', '7']);
  });

  it('leaves the data of the other backends if one of them is rejected', async () => {
    const response = await ask(null, ['refuses', null]);
    deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [200, '{"a":1}', 'false']);
    equal(response.headers['cache-control'], undefined);
    ok(lines.some((line) => line.includes('ERROR: [ENDPOINT: /x] Error #0: refused with status 429')));
  });

  it('is answered 500 if all backends are rejected, with all reasons under return_error_msg', async () => {
    const response = await ask(null, ['refuses', 'refuses with a reason'], { return_error_msg: true });
    deepEqual([response.statusCode, response.body], [500, 'refused with status 429\nnot for you']);
  });

  it('is answered 200 with empty, incomplete data if it skips all backends', async () => {
    const response = await ask(null, ['skips', 'skips']);
    deepEqual([response.statusCode, response.body, response.headers['x-gateway-completed']], [200, '{}', 'false']);
    await gateway?.close();
    const single = await ask(null, ['skips']);
    deepEqual([single.statusCode, single.body, single.headers['x-gateway-completed']], [200, '{}', 'false']);
  });

  it('leaves a complete response if it skips one backend', async () => {
    const response = await ask(null, ['skips', null]);
    deepEqual([response.body, response.headers['x-gateway-completed']], ['{"a":1}', 'true']);
  });

  it('logs a warning with the status that a protocol returns', async () => {
    await ask(null, ['teapot']);
    ok(lines.some((line) => line.includes('WARNING: [BACKEND: GET /x -> GET /][Client] Status: 418')));
  });
});
