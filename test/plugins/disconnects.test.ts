import { equal } from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expiredLogin } from '../chaos/oidc-stages.ts';
import { setEnvironment } from '../support/environment.ts';
import { SHOP, startGrpc, type TestGrpcServer } from '../support/grpc/server.ts';
import { startNats, type TestNats, withoutNats } from '../support/nats.ts';
import { modelBackend, modelOf } from './ai/llm/fixture.ts';
import { issue, makeSigner } from './auth/fixture.ts';
import { publish, take } from './backend/pubsub/nats-endpoints.ts';
import { type Case, DisconnectTestbed } from './disconnects/testbed.ts';

/** The circuit opens at the first failure. */
const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 1 } };

describe('a client that disconnects during a call', function () {
  this.timeout(30_000);
  let server: Server;
  let url: string;
  let grpc: TestGrpcServer;
  let nats: TestNats | null = null;
  const testbed = new DisconnectTestbed();
  let restore = (): void => {};
  /** The path or method whose response is withheld. */
  let held: string | null;
  /** Responds to each pending request and call. */
  let waiting: (() => void)[];
  /** Response bodies by path, if they differ from the default. */
  const answers = new Map<string, unknown>();

  const respond = (path: string, answer: () => void): void => {
    if (path === held) waiting.push(answer);
    else answer();
  };
  const release = (): void => {
    held = null;
    for (const answer of waiting.splice(0)) answer();
  };

  before(async () => {
    server = createServer((message, response) => {
      // Responds when the request headers have arrived, although the body may be incomplete.
      message.on('error', () => {}).resume();
      const path = message.url!.replace(/\?.*/, '');
      response.writeHead(200, { 'Content-Type': 'application/json' });
      if (path === '/rest') response.write(' ');
      respond(path, () => response.end(JSON.stringify(answers.get(path) ?? { ok: true })));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (!withoutNats) nats = await startNats();
    grpc = await startGrpc({
      Find: (_call, answer) => respond('Find', () => answer(null, { id: 'x' })),
    });
  });
  after(async () => {
    await nats?.close();
    server.close().closeAllConnections();
    await grpc.close();
  });
  beforeEach(() => {
    held = null;
    waiting = [];
  });
  afterEach(async () => {
    await testbed.close();
    restore();
    restore = () => {};
  });

  const backend = (path: string, extra: object = {}, more: object = {}) => ({
    host: [url],
    url_pattern: path,
    ...more,
    extra_config: { ...breaker, ...extra },
  });

  /** Cases by the dependency that the request waits for: the path that does not respond, and the request. */
  const cases: Readonly<Record<string, readonly [path: string, given: () => Case | Promise<Case>]>> = {
    'a backend': ['/', () => ({ endpoint: { backend: [backend('/')] } })],
    'a backend that is sending its response': [
      '/rest',
      () => ({ endpoint: { output_encoding: 'no-op', backend: [backend('/rest', {}, { encoding: 'no-op' })] } }),
    ],
    'a backend that received a part of the request': [
      '/',
      () => ({
        endpoint: { method: 'POST', output_encoding: 'no-op', backend: [backend('/', {}, { encoding: 'no-op' })] },
        method: 'POST',
        payload: 'a part',
        missing: 100_000,
      }),
    ],
    'one of several backends': [
      '/slow',
      () => ({ endpoint: { backend: [backend('/'), backend('/slow', {}, { group: 'slow' })] } }),
    ],
    'the second of sequential backends': [
      '/slow',
      () => ({
        endpoint: {
          extra_config: { proxy: { sequential: true } },
          backend: [backend('/'), backend('/slow', {}, { group: 'slow' })],
        },
      }),
    ],
    'a backend with cached responses': [
      '/',
      () => ({ endpoint: { backend: [backend('/', { 'qos/http-cache': {} })] } }),
    ],
    'a token server': [
      '/token',
      () => {
        const token_url = `${url}/token`;
        answers.set('/token', { access_token: 't', token_type: 'bearer', expires_in: 3600 });
        const credentials = { client_id: 'gate', client_secret: 'secret', token_url };
        return { endpoint: { backend: [backend('/', { 'auth/client-credentials': credentials })] } };
      },
    ],
    'a key server': [
      '/keys',
      async () => {
        const ada = await makeSigner('RS256', 'ada');
        answers.set('/keys', { keys: [ada.jwk] });
        const validator = { alg: 'RS256', jwk_url: `${url}/keys`, disable_jwk_security: true };
        return {
          endpoint: { extra_config: { 'auth/validator': validator }, backend: [backend('/')] },
          headers: { Authorization: `Bearer ${await issue(ada)}` },
        };
      },
    ],
    'a Lambda function': [
      '/2015-03-31/functions/f/invocations',
      () => {
        restore = setEnvironment({ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' });
        const lambda = { region: 'eu-west-1', endpoint: url, function_name: 'f', max_retries: 2 };
        return { endpoint: { backend: [backend('/', { 'backend/lambda': lambda })] } };
      },
    ],
    'a language model': [
      modelOf('openai').fixture.url_pattern,
      () => {
        const { url_pattern, answer } = modelOf('openai').fixture;
        answers.set(url_pattern, answer);
        const model = modelBackend(url, 'openai', {}, { extra_config: breaker });
        return {
          endpoint: { method: 'POST', backend: [model] },
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          payload: '{"contents":"hi"}',
        };
      },
    ],
    'an embeddings server': [
      '/embeddings',
      () => {
        answers.set('/embeddings', { data: [{ embedding: [1, 0] }] });
        const embedders = [{ name: 'default', url: `${url}/embeddings`, timeout: '30s' }];
        return {
          root: { extra_config: { 'ai/semantic-cache': { embedders } } },
          endpoint: { method: 'POST', extra_config: { 'ai/semantic-cache': {} }, backend: [backend('/')] },
          method: 'POST',
          payload: '{"prompt":"hi"}',
        };
      },
    ],
    'an OpenID Connect provider': [
      '/token',
      () => {
        answers.set('/.well-known/openid-configuration', { issuer: url, token_endpoint: `${url}/token` });
        answers.set('/token', { access_token: 't', token_type: 'bearer', expires_in: 3600 });
        const port = Number(new URL(url).port);
        const { root, endpoint, headers } = expiredLogin({ side: port, backend: port });
        return { root: { extra_config: root! }, endpoint: { ...endpoint, backend: [backend('/')] }, headers: headers! };
      },
    ],
    'a gRPC server': [
      'Find',
      () => {
        const called = backend('/shop.Shop/Find', { 'backend/grpc': {} }, { host: [grpc.host] });
        return { root: { extra_config: { grpc: { catalog: [SHOP] } } }, endpoint: { backend: [called] } };
      },
    ],
  };
  for (const [what, [path, give]] of Object.entries(cases)) {
    it(`does not count as a failure of ${what}, and the next client is served`, async () => {
      const given = await give();
      held = path;
      await testbed.start(given);
      for (let client = 0; client < 3; client++) await testbed.disconnect(given, () => waiting.length > 0);
      release();
      testbed.blamesNobody();
      equal(await testbed.ask(given), 200);
      testbed.blamesNobody();
    });
  }

  (withoutNats ? describe.skip : describe)(`and a broker${withoutNats ? `: ${withoutNats}` : ''}`, () => {
    const broker = (extra: object) => backend('/', extra, { host: ['nats://'], disable_host_sanitize: true });

    it('does not count as a failed publish', async () => {
      restore = setEnvironment({ NATS_SERVER_URL: nats!.address });
      const given = {
        endpoint: publish('events', {
          endpoint: '/a',
          backend: [broker({ 'backend/pubsub/publisher': { topic_url: 'events' } })],
        }),
        method: 'POST',
        payload: '{}',
      };
      await testbed.start(given);
      equal(await testbed.ask(given), 200);
      nats!.pause();
      for (let client = 0; client < 3; client++) await testbed.disconnect(given);
      nats!.resume();
      testbed.blamesNobody();
      equal(await testbed.ask(given), 200);
    });

    it('does not count as a failed subscription', async () => {
      restore = setEnvironment({ NATS_SERVER_URL: nats!.address });
      const given = {
        endpoint: take('events', {
          endpoint: '/a',
          backend: [broker({ 'backend/pubsub/subscriber': { subscription_url: 'events' } })],
        }),
      };
      await testbed.start(given);
      for (let client = 0; client < 3; client++) await testbed.disconnect(given);
      testbed.blamesNobody();
      const client = await nats!.connect();
      const publishing = setInterval(() => client.publish('events', '{"a":1}'), 20);
      try {
        equal(await testbed.ask(given), 200);
      } finally {
        clearInterval(publishing);
      }
    });
  });
});
