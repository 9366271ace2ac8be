import { deepEqual, equal, ok } from 'node:assert/strict';
import {
  type BackendConfig,
  CallError,
  type Data,
  type DataObject,
  type Encoding,
  type EndpointConfig,
  HeaderBag,
  type HostList,
  makeRequest,
  PipeRequest,
  Query,
  Reply,
  type Step,
} from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { type BackendOptions, compileAtFirstCall, compileBackend } from '../../../kernel/pipeline/backend/backend.ts';
import { balance } from '../../../kernel/pipeline/backend/balance.ts';
import { newCall } from './requests.ts';

const json: Encoding = {
  name: 'json',
  decode: (bytes, asCollection) => {
    const data = JSON.parse(Buffer.from(bytes).toString()) as Data;
    return asCollection ? { collection: data } : (data as DataObject);
  },
  passes: (bytes) => ({ contentType: 'application/json', body: bytes, empty: false }),
};
const raw: Encoding = { name: 'no-op', raw: true };

interface Given extends Partial<Omit<BackendOptions, 'endpoint' | 'backend' | 'hosts' | 'protocol'>> {
  readonly endpoint?: Partial<EndpointConfig>;
  readonly backend?: Partial<BackendConfig>;
  readonly hosts?: string[] | null;
  readonly answers?: 'data';
  readonly compile?: typeof compileBackend;
  readonly call?: Step<PipeRequest>;
}

const bytes = (text: string, status = 200) => Reply.raw(status, new HeaderBag(), Buffer.from(text));

/** The pipeline of a backend, and the requests that its protocol received. */
function backendOf({
  endpoint,
  backend,
  hosts = ['http://a:1'],
  answers: responses,
  call = () => bytes('{"a":1}'),
  compile = compileBackend,
  ...more
}: Given) {
  const asked: PipeRequest[] = [];
  const list: HostList | null = hosts && { current: hosts, fixed: true };
  const step = compile({
    endpoint: { endpoint: '/x', timeout: 60_000, concurrent_calls: 1, ...endpoint } as EndpointConfig,
    backend: {
      url_pattern: '/p',
      method: 'GET',
      host: hosts ?? [],
      input_headers: [],
      input_query_strings: [],
      ...backend,
    } as BackendConfig,
    log: silentLog,
    backendWraps: [],
    transportWraps: [],
    protocol: {
      ...(responses && { replies: responses }),
      call: (request, own) => {
        asked.push(request);
        return call(request, own);
      },
    },
    pickHost: list && balance(list),
    customShape: undefined,
    messageHooks: [],
    encoding: json,
    output: json,
    unread: false,
    alone: true,
    ...more,
  });
  return { step, asked };
}

function request({ params = {}, query = '', headers = [] as string[], method = 'GET' } = {}) {
  const client = makeRequest({ params, method, headers: new HeaderBag(headers) });
  return new PipeRequest(client, params, Query.parse(query), new HeaderBag(headers), null);
}

async function send(given: Given, sent = request()) {
  const { step, asked } = backendOf(given);
  const reply = await step(sent, newCall());
  const addresses = asked.map(({ origin, target }) => `${origin} ${target}`);
  return { reply, asked, addresses, sent, codes: reply.errors.map(({ code }) => code) };
}

describe('the request to a backend', () => {
  it('is sent to its host, with its method and path', async () => {
    const { addresses, asked } = await send({ backend: { method: 'POST' } });
    deepEqual([addresses, asked[0]!.method], [['http://a:1 /p'], 'POST']);
  });

  it('is sent through a pipeline that is composed once, at the first request', async () => {
    let folded = 0;
    const counting = (next: Step<PipeRequest>) => {
      folded++;
      return next;
    };
    const { step, asked } = backendOf({ compile: compileAtFirstCall, counting });
    equal(folded, 0);
    await step(request(), newCall());
    await step(request(), newCall());
    deepEqual([folded, asked.map(({ target }) => target)], [1, ['/p', '/p']]);
  });

  it('has the method of the client request if the backend has none', async () => {
    equal((await send({ backend: { method: '' as never } }, request({ method: 'PUT' }))).asked[0]!.method, 'PUT');
  });

  for (const [host, address] of [
    ['http://a:1/v1', 'http://a:1 /v1/p'],
    ['http://a:1/v1/', 'http://a:1 /v1/p'],
    ['http://a:1/', 'http://a:1 /p'],
    ['http://a:1/v1//w', 'http://a:1 /v1//w/p'],
  ] as const) {
    it(`keeps the path of the host ${host}`, async () => {
      deepEqual((await send({ hosts: [host] })).addresses, [address]);
    });
  }

  it('has the placeholders of the chosen host filled in', async () => {
    const { step, asked } = backendOf({ hosts: ['http://{id}:1/v', 'http://b:2'] });
    for (let times = 0; times < 4; times++) await step(request({ params: { Id: 'a' } }), newCall());
    deepEqual(new Set(asked.map(({ origin, target }) => origin + target)), new Set(['http://a:1/v/p', 'http://b:2/p']));
  });

  it('is not sent if its host or path lacks a value', async () => {
    for (const given of [{ hosts: ['http://{id}:1'] }, { backend: { url_pattern: '/{id}' } }]) {
      const { reply, asked, codes } = await send(given);
      deepEqual([reply.status, codes, asked.length], [400, ['REQUEST_VALUE_MISSING'], 0]);
    }
  });

  it('is not sent to an invalid address', async () => {
    const { asked, codes } = await send({ hosts: ['http://{id}:1'] }, request({ params: { Id: 'a b' } }));
    deepEqual([codes, asked.length], [['BACKEND_ADDRESS'], 0]);
  });

  it('is sent to a fixed address unchanged', async () => {
    deepEqual((await send({ hosts: ['http://a b:1'] })).addresses, ['http://a b:1 /p']);
  });

  it('is not sent while no host is known', async () => {
    const { asked, codes } = await send({ hosts: [] });
    deepEqual([codes, asked.length], [['BACKEND_NO_HOSTS'], 0]);
  });

  it('has the headers and parameters that the backend lists', async () => {
    const backend = { input_headers: ['X-A'], input_query_strings: ['a'] };
    for (const hosts of [['http://a:1'], null]) {
      const sent = request({ query: 'a=1&b=2', headers: ['X-A', '1', 'X-B', '2'] });
      const { asked } = await send({ hosts, backend }, sent);
      deepEqual([[...asked[0]!.headers], asked[0]!.target], [[['X-A', '1']], '/p?a=1']);
    }
    const unfiltered = await send({ hosts: null }, request({ headers: ['X-B', '2'] }));
    deepEqual([...unfiltered.asked[0]!.headers], [['X-B', '2']]);
  });

  for (const [endpoint, target] of [
    ['/x/*', '/p/rest'],
    ['/__catchall', '/p/rest'],
    ['/*/x', '/p'],
    ['/x', '/p'],
  ] as const) {
    it(`has the path ${target} if the endpoint is ${endpoint} and a wildcard matched`, async () => {
      const { asked } = await send({ endpoint: { endpoint } }, request({ params: { Wildcard: 'rest' } }));
      equal(asked[0]!.target, target);
    });
  }

  it('is a copy if other requests are made from the same original', async () => {
    for (const [given, isCopy] of [
      [{}, false],
      [{ alone: false }, true],
      [{ endpoint: { concurrent_calls: 2 } }, true],
    ] as const) {
      const { sent, asked } = await send(given);
      deepEqual([sent.target === '', asked[0] !== sent], [isCopy, isCopy]);
    }
  });

  it('is sent concurrent_calls times, but once if nothing is decoded', async () => {
    const endpoint = { concurrent_calls: 3 };
    deepEqual([(await send({ endpoint })).asked.length, (await send({ endpoint, output: raw })).asked.length], [3, 1]);
  });
});

describe('the timeout of a backend', () => {
  const never = (): Promise<Reply> => new Promise(() => {});
  const timeOf = async (endpointMs: number, backendMs: number | undefined): Promise<number[]> => {
    const deadlines: number[] = [];
    const { step } = backendOf({
      endpoint: { timeout: endpointMs },
      backend: { timeout: backendMs } as Partial<BackendConfig>,
      call: (_request, call) => {
        deadlines.push(call.deadline - performance.now());
        return bytes('{}');
      },
    });
    const whole = newCall(60_000);
    await step(request(), whole);
    whole.finish();
    return deadlines;
  };

  it("is the backend's own timeout if it is shorter than the endpoint's", async () => {
    const [own] = await timeOf(50_000, 10_000);
    ok(own! > 9000 && own! <= 10_000, String(own));
  });

  it('is otherwise the deadline of the call', async () => {
    for (const backendMs of [undefined, 0, 50_000, 55_000]) {
      const [left] = await timeOf(50_000, backendMs);
      ok(left! > 59_000, `${backendMs}: ${left}`);
    }
  });

  it('is three quarters of the shorter of both timeouts for concurrent calls', async () => {
    for (const [endpointMs, backendMs] of [
      [40, undefined],
      [60_000, 40],
    ] as const) {
      const { step } = backendOf({
        endpoint: { timeout: endpointMs, concurrent_calls: 2 },
        backend: { timeout: backendMs } as Partial<BackendConfig>,
        call: never,
      });
      const reply = await step(request(), newCall());
      deepEqual(
        reply.errors.map(({ code }) => code),
        ['CALL_DEADLINE'],
      );
    }
  });
});

describe('the response of a backend', () => {
  const backend = { mapping: { a: 'b' } };

  it('is decoded and shaped', async () => {
    deepEqual((await send({ backend })).reply.data, { b: 1 });
    deepEqual((await send({ backend: { is_collection: true } })).reply.data, { collection: { a: 1 } });
  });

  it('passes undecoded if no component reads it and the encodings agree', async () => {
    const passed = await send({ unread: true });
    deepEqual([passed.reply.data, String(passed.reply.body)], [null, '{"a":1}']);
    const others: Given[] = [{}, { unread: true, backend }, { unread: true, output: { ...json, name: 'other' } }];
    for (const given of others) ok((await send(given)).reply.data !== null, JSON.stringify(given));
    const part = await send({ unread: true, alone: false });
    deepEqual([part.reply.data, String(part.reply.body)], [null, '{"a":1}']);
    const { passes: _, ...unproven } = json;
    ok((await send({ unread: true, encoding: unproven, output: unproven })).reply.data !== null);
  });

  it('is shaped if the protocol returns decoded data', async () => {
    const call = () => Reply.data({ a: 1 });
    deepEqual((await send({ answers: 'data', backend, call })).reply.data, { b: 1 });
    deepEqual((await send({ answers: 'data', backend, call, output: raw })).reply.data, { a: 1 });
    deepEqual((await send({ answers: 'data', call })).reply.data, { a: 1 });
    deepEqual((await send({ backend, call })).reply.data, { a: 1 });
    equal((await send({ answers: 'data', backend, call: () => Reply.data(null) })).reply.data, null);
  });

  it("is empty data if the backend's encoding is no-op and the endpoint's is not", async () => {
    for (const call of [() => bytes('x'), async () => bytes('x')]) {
      const { reply } = await send({ encoding: raw, call });
      deepEqual([reply.data, String(reply.body)], [{}, 'x']);
    }
    const decoded = await send({ encoding: raw, call: () => Reply.data({ a: 1 }) });
    deepEqual(decoded.reply.data, { a: 1 });
    const failed = await send({ encoding: raw, call: () => Reply.failed(new CallError('TEST', 'it broke')) });
    equal(failed.reply.data, null);
  });

  it('is passed unchanged with any status if the output is no-op', async () => {
    const { reply } = await send({ output: raw, call: () => bytes('no', 404) });
    deepEqual([reply.status, String(reply.body)], [404, 'no']);
  });

  it('is counted inside the transport hooks, right before the protocol', async () => {
    const seen: string[] = [];
    const wrap =
      (name: string) =>
      (next: Step<PipeRequest>): Step<PipeRequest> =>
      (own, call) => {
        seen.push(name);
        return next(own, call);
      };
    await send({ backendWraps: [wrap('backend')], transportWraps: [wrap('transport')], counting: wrap('counting') });
    deepEqual(seen, ['backend', 'transport', 'counting']);
  });
});
