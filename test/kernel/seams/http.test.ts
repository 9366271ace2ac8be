import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import {
  atBackend,
  atEndpoint,
  BackendError,
  clientTlsSchema,
  definePlugin,
  discard,
  HeaderBag,
  type HttpSigner,
  httpSigners,
  makeRequest,
  offer,
  PipeRequest,
  Query,
  Reply,
  RequestBody,
  refuse,
} from '#contract';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import type { Gateway } from '../../../kernel/index.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** Signs the URL and body of every request with a shared key, as cloud providers require. */
const signer = definePlugin({
  name: 'test/signer',
  description: 'Signs requests to a backend.',
  offers: [httpSigners],
  places: [
    atBackend(
      { type: 'object', properties: { key: { type: 'string', description: 'Key.', default: 'k' } } },
      ({ config: { key } }) => {
        const signing: HttpSigner = {
          readsBody: true,
          async sign({ method, origin, target, headers, body, redirects }) {
            if (key === 'expired') throw new BackendError('TEST_SIGNER', 'the key has expired');
            const text = `${method} ${new URL(origin).host}${target} ${Buffer.from(body ?? []).toString()}`;
            headers.set('X-Signature', createHmac('sha256', key).update(text).digest('hex'));
            headers.append('X-Attempt', String(redirects));
          },
        };
        return { offers: [offer(httpSigners, signing)] };
      },
    ),
  ],
});

/** Sends a configured GraphQL query with the path parameters as its variables. */
const graphql = definePlugin({
  name: 'test/graphql',
  description: 'Asks a GraphQL server.',
  takes: [httpSigners],
  places: [
    atBackend(
      { type: 'object', properties: { query: { type: 'string', description: 'Query.', default: '' } } },
      ({ config: { query }, http }) => {
        const send = http();
        return {
          protocol: {
            schemes: ['http', 'https'],
            call(request, call) {
              request.method = 'POST';
              request.headers.set('Content-Type', 'application/json');
              request.body = RequestBody.of(JSON.stringify({ query, variables: request.params }));
              return send(request, call);
            },
          },
        };
      },
    ),
  ],
});

/** A protocol that responds itself, without HTTP. */
const spoken = definePlugin({
  name: 'test/spoken',
  description: 'Answers in the place of a backend.',
  places: [
    atBackend({ type: 'object', properties: {} }, () => ({
      protocol: { hostless: true, replies: 'data', call: () => Reply.data({ ok: true }) },
    })),
  ],
});

/** Calls another server before the backend, such as one that issues tokens. */
const asking = definePlugin({
  name: 'test/asking',
  description: 'Asks another server first.',
  places: [
    atBackend({ type: 'object', properties: {} }, ({ http, backend }) => {
      const send = http({ ofService: true });
      return {
        transport: (next) => async (request, call) => {
          const first = request.copy();
          first.origin = backend.host[0]!;
          first.target = '/no';
          discard((await send(first, call)).body);
          return next(request, call);
        },
      };
    }),
  ],
});

/** Accepts requests as long as another server responds with success. */
const gatekeeper = definePlugin({
  name: 'test/gatekeeper',
  description: 'Asks a service whether to let a request in.',
  takes: [httpSigners],
  places: [
    atEndpoint(
      {
        type: 'object',
        properties: {
          url: { type: 'string', description: 'Whom to ask.', default: '' },
          tls: { ...clientTlsSchema, description: 'TLS.' },
        },
      },
      ({ config: { url, tls }, http }) => {
        const ask = http({ followsRedirects: false, ...(tls && { tls: { settings: tls, at: '/tls' } }) });
        return {
          endpoint: (next) => async (request, call) => {
            const question = new PipeRequest(makeRequest({}), {}, new Query(), new HeaderBag(), null);
            const { origin, pathname } = new URL(url);
            Object.assign(question, { origin, target: pathname });
            const { status } = await ask(question, call);
            return status === 200 ? next(request, call) : refuse(403);
          },
        };
      },
    ),
  ],
});

/** Authenticates once per connection, like NTLM. */
const handshake = definePlugin({
  name: 'test/handshake',
  description: 'Introduces itself to a backend.',
  takes: [httpSigners],
  places: [
    atBackend(
      { type: 'object', properties: { user: { type: 'string', description: 'Who.', default: 'ada' } } },
      ({ config: { user }, http }) => {
        const send = http({ ownConnection: user });
        return {
          protocol: {
            async call(request, call) {
              const reply = await send(request, call);
              if (reply.status !== 401) return reply;
              discard(reply.body);
              request.headers.set('X-User', user);
              return send(request, call);
            },
          },
        };
      },
    ),
  ],
});

describe("the gateway's HTTP client when used by a component", () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  const seen: { target: string; signature: unknown; attempt: unknown; body: string }[] = [];

  before(async () => {
    backend = await startBackend(({ method, target, headers, body }, response) => {
      const { 'x-signature': signature, 'x-attempt': attempt } = headers;
      seen.push({ target: `${method} ${target}`, signature, attempt, body: body.toString() });
      if (target === '/moved') response.writeHead(307, { location: '/here' }).end();
      else if (target === '/no') response.writeHead(302, { location: '/yes' }).end();
      else response.setHeader('content-type', 'application/json').end('{"data":{"a":1}}');
    });
  });
  after(() => backend.close());
  beforeEach(() => {
    seen.length = 0;
  });
  afterEach(() => gateway?.close());

  const start = async (extra: object, target = '/graphql', endpoint: object = {}) => {
    const one = { host: [backend.url], url_pattern: target, extra_config: extra };
    gateway = await startWith([signer, graphql, gatekeeper, asking, spoken], {
      endpoints: [{ endpoint: '/a/{id}', backend: [one], ...endpoint }],
    });
  };
  const ask = async () => (await gateway!.inject({ url: '/a/7' })).statusCode;

  const expected = (method: string, target: string, body = '') =>
    createHmac('sha256', 'k')
      .update(`${method} ${new URL(backend.url).host}${target} ${body}`)
      .digest('hex');

  it('sends the request that another protocol composes', async () => {
    await start({ 'test/graphql': { query: '{ a }' } });
    const { body } = await gateway!.inject({ url: '/a/7' });
    deepEqual(JSON.parse(body), { data: { a: 1 } });
    deepEqual(seen, [
      {
        target: 'POST /graphql',
        signature: undefined,
        attempt: undefined,
        body: '{"query":"{ a }","variables":{"Id":"7"}}',
      },
    ]);
  });

  it('has its requests signed with the body that is sent, in any order of declaration', async () => {
    await start({ 'test/graphql': { query: '{ a }' }, 'test/signer': {} });
    equal(await ask(), 200);
    equal(seen[0]!.signature, expected('POST', '/graphql', seen[0]!.body));
  });

  it('has requests to an ordinary backend signed, too', async () => {
    await start({ 'test/signer': {} });
    equal(await ask(), 200);
    equal(seen[0]!.signature, expected('GET', '/graphql'));
  });

  it('signs each request after a redirect anew, without headers of the previous signature', async () => {
    await start(
      {
        'test/graphql': { query: '{ a }' },
        'test/signer': {},
        'backend/http/client': { send_body_on_redirect: true },
      },
      '/moved',
    );
    equal(await ask(), 200);
    const [first, second] = seen;
    deepEqual([first!.target, second!.target], ['POST /moved', 'POST /here']);
    deepEqual([first!.attempt, second!.attempt], ['0', '1']);
    equal(first!.signature, expected('POST', '/moved', first!.body));
    equal(second!.signature, expected('POST', '/here', first!.body));
  });

  it('fails the call if it cannot be signed', async () => {
    await start({ 'test/signer': { key: 'expired' } });
    equal(await ask(), 500);
    deepEqual(seen, []);
  });

  it('follows the redirect settings of the backend', async () => {
    await start({ 'test/graphql': {}, 'backend/http/client': { no_redirect: true } }, '/moved');
    equal(await ask(), 500);
    equal(seen.length, 1);
  });

  it('calls other servers unsigned and follows redirects by default', async () => {
    await start({ 'test/asking': {}, 'test/signer': {}, 'backend/http/client': { no_redirect: true } });
    equal(await ask(), 200);
    deepEqual(
      seen.map(({ target, signature }) => [target, signature !== undefined]),
      [
        ['GET /no', false],
        ['GET /yes', false],
        ['GET /graphql', true],
      ],
    );
  });

  it('reports a warning for a signer of a backend that does not use HTTP', async () => {
    await start({ 'test/spoken': {}, 'test/signer': {} });
    deepEqual(
      gateway!.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['BACKEND_NO_HTTP', '/endpoints/0/backend/0/extra_config/test~1signer']],
    );
    equal(await ask(), 200);
  });

  it('can call any address with its own settings outside of backends', async () => {
    await start({}, '/graphql', { extra_config: { 'test/gatekeeper': { url: `${backend.url}/no` } } });
    equal(await ask(), 403);
    await gateway!.reload({
      version: 3,
      endpoints: [
        {
          endpoint: '/a/{id}',
          backend: [{ host: [backend.url], url_pattern: '/' }],
          extra_config: { 'test/gatekeeper': { url: `${backend.url}/yes` } },
        },
      ],
    });
    equal(await ask(), 200);
    deepEqual(
      seen.map(({ target }) => target),
      ['GET /no', 'GET /yes', 'GET /'],
    );
  });

  it('reports errors in TLS settings at the place of the component', async () => {
    const tls = { ca_certs: ['/no/such.pem'] };
    const refused = start({}, '/', { extra_config: { 'test/gatekeeper': { url: 'https://x', tls } } });
    await rejects(refused, (error: ConfigErrors) => {
      const [first] = error.errors;
      deepEqual(
        [first!.code, first!.pointer],
        ['CLIENT_TLS_FILE', '/endpoints/0/extra_config/test~1gatekeeper/tls/ca_certs/0'],
      );
      return error instanceof ConfigErrors;
    });
  });

  it('is rejected if the plugin does not declare the signers that it uses', async () => {
    const careless = { ...graphql, name: 'test/careless', takes: [] };
    await rejects(openHarness(careless, 'backend', {}), /must list the port "http signers" in "takes"/);
  });

  it('can be tested without a socket', async () => {
    const bodies: string[] = [];
    const next = async (request: PipeRequest) => {
      bodies.push(Buffer.from(await request.body!.bytes()).toString());
      return Reply.data({ a: request.headers.get('x-signature')! });
    };
    const offers = [offer(httpSigners, { sign: ({ headers }) => headers.set('X-Signature', 'mine') })];
    const gate = await openHarness(graphql, 'backend', { query: '{ a }' }, { next, offers });
    deepEqual((await gate.send('GET /')).data, { a: 'mine' });
    match(bodies[0]!, /\{ a \}/);
    deepEqual(await gate.close(), { kept: 0, deferred: 0 });
    const alone = await openHarness(signer, 'backend', {}, { next, backend: {} });
    match(String((await alone.send({ method: 'POST', body: 'x' })).data!['a']), /^[0-9a-f]{64}$/);
    deepEqual(await alone.close(), { kept: 0, deferred: 0 });
  });
});

describe('a dedicated connection of a component', () => {
  let gateway: Gateway | undefined;
  let backend: TestBackend;
  const known = new Map<number, string>();
  const seen: string[] = [];

  before(async () => {
    backend = await startBackend(({ headers, target }, response) => {
      const port = response.socket!.remotePort!;
      const { 'x-user': user } = headers;
      if (user) known.set(port, String(user));
      seen.push(`${target} ${known.get(port) ?? 'nobody'}`);
      response.writeHead(known.has(port) ? 200 : 401, { 'content-type': 'application/json' }).end('{}');
    });
  });
  after(() => backend.close());
  afterEach(() => gateway?.close());

  it('keeps its authentication, and is shared only by users with the same key', async () => {
    const endpoint = (path: string, user: string) => ({
      endpoint: path,
      backend: [{ host: [backend.url], url_pattern: path, extra_config: { 'test/handshake': { user } } }],
    });
    gateway = await startWith([handshake], {
      endpoints: [endpoint('/ada', 'ada'), endpoint('/ada/too', 'ada'), endpoint('/bob', 'bob')],
    });
    const ask = (url: string) => gateway!.inject({ url });
    for (const url of ['/ada', '/bob', '/ada/too']) equal((await ask(url)).statusCode, 200);
    deepEqual(seen, ['/ada nobody', '/ada ada', '/bob nobody', '/bob bob', '/ada/too ada']);
    await Promise.all(Array.from({ length: 5 }, () => ask('/ada')));
    equal(known.size, 2);
  });
});
