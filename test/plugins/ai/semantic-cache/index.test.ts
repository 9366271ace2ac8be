import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { ByteStream, HeaderBag, offer, type PipeRequest, Reply } from '#contract';
import { type Harness, type HarnessOptions, openHarness } from '../../../../kernel/testing/index.ts';
import { type Embedder, embedders } from '../../../../plugins/ai/semantic-cache/embedder.ts';
import { plugin } from '../../../../plugins/ai/semantic-cache/index.ts';
import { countingMeter } from '../../../support/counting.ts';
import { json, startBackend, startGateway } from '../../../support/gateway.ts';
import { findingsOf } from '../../auth/fixture.ts';

/** Texts with the same first word have the same meaning. */
const meanings = new Map<string, number>();
let embedded: string[] = [];

function vectorOf(text: string): Float32Array {
  const word = /capital|weather|poem/.exec(text)?.[0] ?? 'other';
  if (!meanings.has(word)) meanings.set(word, meanings.size);
  const vector = new Float32Array(8);
  vector[meanings.get(word)!] = 1;
  return vector;
}

const embedder: Embedder = {
  identity: 'test',
  async embed(text) {
    embedded.push(text);
    if (text.includes('broken')) throw new Error('status 500');
    return vectorOf(text);
  },
};

const offers = [offer(embedders, new Map([['default', embedder]]))];
const chat = (content: unknown, more: object = {}) =>
  JSON.stringify({ messages: [{ role: 'user', content }], ...more });

describe('ai/semantic-cache', () => {
  let harness: Harness | undefined;
  let calls: number;
  let reply: () => Reply;

  beforeEach(() => {
    calls = 0;
    embedded = [];
    reply = () => Reply.data({ answer: calls });
  });
  afterEach(async () => {
    const counts = await harness?.close();
    harness = undefined;
    if (counts) deepEqual(counts, { kept: 0, deferred: 0 });
  });

  const open = async (
    config: object = {},
    options: HarnessOptions = {},
    level: 'endpoint' | 'backend' = 'endpoint',
  ) => {
    const next = () => {
      calls++;
      return reply();
    };
    harness = await openHarness(plugin, level, config, {
      ...{ next, offers },
      ...options,
      endpoint: { input_headers: ['*'], method: 'POST', ...options.endpoint },
    });
  };
  const send = (body: string, headers: Record<string, string> = {}, more: object = {}) =>
    harness!.send({ method: 'POST', body, headers, ...more } as never);
  const answerTo = async (...parts: Parameters<typeof send>) => (await send(...parts)).data?.['answer'];

  for (const level of ['endpoint', 'backend'] as const) {
    it(`answers requests with the same meaning from the cache at ${level}s, and others from the backend`, async () => {
      await open({}, {}, level);
      equal(await answerTo(chat('What is the capital of France?')), 1);
      equal(await answerTo(chat('Name the capital of France.')), 1);
      equal(await answerTo(chat('How is the weather?')), 2);
      equal(calls, 2);
    });
  }

  it('answers a repeated text without computing an embedding', async () => {
    await open();
    await send(chat('capital'));
    await send(chat('capital'));
    deepEqual([embedded, calls], [['user: capital'], 1]);
  });

  it('marks stored responses with a header', async () => {
    await open();
    equal((await send(chat('capital'))).headers.has('x-semantic-cache'), false);
    equal((await send(chat('capital!'))).headers.get('x-semantic-cache'), 'hit');
  });

  describe('never shares responses between requests that differ in', () => {
    const user = { key_variants: ['req_headers.X-User'] };
    const pairs: readonly [
      what: string,
      config: object,
      first: Parameters<typeof send>,
      second: Parameters<typeof send>,
    ][] = [
      [
        'a header of key_variants',
        user,
        [chat('capital'), { 'x-user': 'ada' }],
        [chat('capital'), { 'x-user': 'bob' }],
      ],
      ['the presence of that header', user, [chat('capital'), { 'x-user': 'ada' }], [chat('capital')]],
      [
        'a field of key_variants',
        { key_variants: ['req_body.user'] },
        [chat('capital', { user: 'a' })],
        [chat('capital', { user: 'b' })],
      ],
      [
        'one of several values',
        { key_variants: ['req_headers.X-A', 'req_headers.X-B'] },
        [chat('capital'), { 'x-a': 'v' }],
        [chat('capital'), { 'x-b': 'v' }],
      ],
      ['the model', {}, [chat('capital', { model: 'a' })], [chat('capital', { model: 'b' })]],
      ['streaming', {}, [chat('capital', { stream: true })], [chat('capital', { stream: false })]],
      ['tools', {}, [chat('capital', { tools: [] })], [chat('capital', { tools: [1] })]],
      [
        'path parameters',
        {},
        [chat('capital'), {}, { params: { Id: '1' } }],
        [chat('capital'), {}, { params: { Id: '2' } }],
      ],
      ['the query string', {}, [chat('capital'), {}, { target: '/?a=1' }], [chat('capital'), {}, { target: '/?a=2' }]],
    ];
    for (const [what, config, first, second] of pairs) {
      it(what, async () => {
        await open(config);
        deepEqual([await answerTo(...first), await answerTo(...second)], [1, 2]);
      });
    }
  });

  it('compares only the configured content', async () => {
    await open({ req_content: 'req_body.prompt' });
    await send(JSON.stringify({ prompt: 'capital', trace: 1 }));
    equal(await answerTo(JSON.stringify({ prompt: 'the capital', trace: 2 })), 1);
    deepEqual(embedded, ['capital', 'the capital']);
  });

  for (const [what, body, headers] of [
    [
      'with an image',
      chat([
        { type: 'text', text: 'capital' },
        { type: 'image_url', image_url: { url: 'data:' } },
      ]),
      {},
    ],
    ['without content', '', {}],
    ['longer than 32,768 characters', chat('capital'.repeat(5000)), {}],
    ['with Cache-Control: no-cache', chat('capital'), { 'cache-control': 'no-cache' }],
    ['that cannot be embedded', chat('broken'), {}],
  ] as const) {
    it(`passes requests ${what} to the backend each time`, async () => {
      await open();
      deepEqual([await answerTo(body, headers), await answerTo(body, headers)], [1, 2]);
    });
  }

  for (const [what, make] of [
    ['with another status', () => Reply.raw(201, new HeaderBag(), Buffer.from('x'))],
    ['that are incomplete', () => Reply.data({ a: 1 }, false)],
    ['with cookies', () => Reply.raw(200, new HeaderBag(['Set-Cookie', 'a=b']), Buffer.from('x'))],
    ['that are private', () => Reply.raw(200, new HeaderBag(['Cache-Control', 'private']), Buffer.from('x'))],
    ['that are compressed', () => Reply.raw(200, new HeaderBag(['Content-Encoding', 'gzip']), Buffer.from('x'))],
    ['larger than 1 MiB', () => Reply.raw(200, new HeaderBag(), Buffer.alloc(1024 * 1024 + 1))],
  ] as const) {
    it(`does not store responses ${what}`, async () => {
      await open();
      reply = make;
      await send(chat('capital'));
      await send(chat('capital'));
      equal(calls, 2);
    });
  }

  const streamed = (pieces: readonly string[], end: (stream: ByteStream) => void) => () => {
    const stream = new ByteStream();
    for (const piece of pieces) stream.write(Buffer.from(piece));
    end(stream);
    return Reply.raw(200, new HeaderBag(['Content-Type', 'text/event-stream']), stream);
  };

  it('stores streams once they are complete, with their content type', async () => {
    await open();
    reply = streamed(['data: 1\n\n', 'data: 2\n\n'], (stream) => stream.end());
    const first = await send(chat('poem'));
    equal(Buffer.from(await (first.body as ByteStream).collect(1e6)).toString(), 'data: 1\n\ndata: 2\n\n');
    const second = await send(chat('a poem'));
    equal(Buffer.from(second.body as Uint8Array).toString(), 'data: 1\n\ndata: 2\n\n');
    deepEqual([second.headers.get('content-type'), calls], ['text/event-stream', 1]);
  });

  it('does not store streams that fail', async () => {
    await open();
    reply = streamed(['data: 1\n\n'], (stream) => stream.fail(new Error('reset')));
    await rejects(
      async () =>
        (await send(chat('poem'))).body && (await ((await send(chat('poem'))).body as ByteStream).collect(1e6)),
    );
    equal(calls, 2);
  });

  it('shares responses between workers', async () => {
    const owner = await openHarness(plugin, 'endpoint', {}, { offers, role: 'owner' });
    await open({}, { owner });
    await send(chat('capital'));
    const other = await openHarness(
      plugin,
      'endpoint',
      {},
      { offers, owner, endpoint: { input_headers: ['*'], method: 'POST' } },
    );
    deepEqual((await other.send({ method: 'POST', body: chat('the capital') })).data, { answer: 1 });
    await other.close();
    await harness!.close();
    harness = undefined;
    await owner.close();
  });

  it('keeps responses over a reload until their ttl has passed', async () => {
    let now = 0;
    await open({ ttl: '10s' }, { services: { clock: { now: () => now } } });
    await send(chat('capital'));
    await harness!.reload({ ttl: '20s' });
    now = 9_999;
    equal(await answerTo(chat('the capital')), 1);
    now = 10_000;
    equal(await answerTo(chat('the capital')), 2);
  });

  it('counts requests by result', async () => {
    const { counts, offers: ofMeter } = countingMeter();
    await open({}, { offers: [...offers, ...ofMeter] });
    await send(chat('capital'));
    await send(chat('the capital'));
    deepEqual([...counts], [['semantic_cache.requests', 2]]);
  });

  describe('embedders', () => {
    it('send text and model to a server with the embeddings API', async () => {
      const server = await startBackend((seen, response) => {
        const { input } = JSON.parse(seen.body.toString());
        json({ data: [{ embedding: [...vectorOf(input)].map((value) => value * 3) }] })(seen, response);
      });
      const backend = await startBackend((seen, response) => json({ seen: backend.requests.length })(seen, response));
      const gateway = await startGateway({
        extra_config: {
          'ai/semantic-cache': {
            embedders: [{ name: 'default', url: `${server.url}/v1/embeddings`, model: 'small', credentials: 'key' }],
          },
        },
        endpoints: [
          {
            ...{ endpoint: '/chat', method: 'POST', backend: [{ host: [backend.url], url_pattern: '/' }] },
            extra_config: { 'ai/semantic-cache': { req_content: 'req_body.prompt' } },
          },
        ],
      });
      const ask = async (prompt: string) =>
        JSON.parse((await gateway.inject({ method: 'POST', url: '/chat', payload: { prompt } })).body).seen;
      try {
        deepEqual([await ask('capital'), await ask('the capital'), await ask('weather')], [1, 1, 2]);
        const { target, headers, body } = server.requests[0]!;
        deepEqual([target, headers.authorization], ['/v1/embeddings', 'Bearer key']);
        deepEqual(JSON.parse(body.toString()), { input: 'capital', model: 'small' });
      } finally {
        await gateway.close();
        await server.close();
        await backend.close();
      }
    });

    for (const [what, data] of [
      ['without a vector', {}],
      ['with an empty vector', { data: [{ embedding: [] }] }],
      ['with a vector of zeros', { data: [{ embedding: [0, 0] }] }],
      ['with another number of dimensions', { data: [{ embedding: [1, 0, 0] }] }],
      ['with other values', { data: [{ embedding: ['1', null] }] }],
    ] as const) {
      it(`reject responses ${what}`, async () => {
        const config = { embedders: [{ name: 'e', url: 'https://e.test/v1/embeddings', vector_dimension: 2 }] };
        const next = (_request: PipeRequest) => Reply.raw(200, new HeaderBag(), Buffer.from(JSON.stringify(data)));
        harness = await openHarness(plugin, 'service', config, { next });
        const declared = harness.attached.offers![0]!.value as ReadonlyMap<string, Embedder>;
        const { Call } = await import('#contract');
        await rejects(declared.get('e')!.embed('text', new Call()), { code: 'SEMANTIC_CACHE_EMBEDDING' });
      });
    }
  });

  describe('in the configuration check', () => {
    for (const [level, config, finding] of [
      ['service', { embedders: [{ name: 'a' }] }, 'SEMANTIC_CACHE_MODEL /embedders/0'],
      [
        'service',
        { embedders: [{ name: 'a', model_path: '/m', vector_dimension: 3 }] },
        'SEMANTIC_CACHE_MODEL /embedders/0/model_path',
      ],
      [
        'service',
        { embedders: [1, 2].map(() => ({ name: 'a', url: 'https://a.test' })) },
        'SEMANTIC_CACHE_NAME /embedders/1/name',
      ],
      ['service', { embedders: [{ name: 'a', url: 'ftp://a' }] }, 'AI_SERVER_ADDRESS /embedders/0/url'],
      ['endpoint', { embedder: 'other' }, 'SEMANTIC_CACHE_EMBEDDER /embedder'],
      ['endpoint', { redis_connection: 'default' }, 'REDIS_CONNECTION /redis_connection'],
      ['endpoint', { key_variants: ['req_body', 'header.x'] }, 'REQUEST_PART /key_variants/1'],
      ['endpoint', { req_content: 'req_params' }, 'REQUEST_PART /req_content'],
    ] as const) {
      it(`rejects ${JSON.stringify(config)}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, level, config, { offers })), [finding]));
    }

    it('rejects key_variants with a header that is not forwarded', async () => {
      const config = { key_variants: ['req_headers.X-User'] };
      const endpoint = { input_headers: ['X-Other'] };
      deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config, { offers, endpoint })), [
        'SEMANTIC_CACHE_HEADER /key_variants/0',
      ]);
    });

    it('warns if authenticated callers share responses', async () => {
      await open({}, { endpoint: { extra_config: { 'auth/validator': {} } } as never });
      ok(harness!.warnings.some(({ code }) => code === 'SEMANTIC_CACHE_SHARED'));
    });
  });
});
