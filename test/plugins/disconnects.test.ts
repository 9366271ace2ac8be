import { deepEqual, equal } from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operations } from '#kernel';
import { openRaw } from '../kernel/server/raw.ts';
import { until } from '../support/conditions.ts';
import { setEnvironment } from '../support/environment.ts';
import { partsOf, rememberingSinks, startGateway } from '../support/gateway.ts';
import { SHOP, startGrpc, type TestGrpcServer } from '../support/grpc/server.ts';
import { startNats, type TestNats, withoutNats } from '../support/nats.ts';
import { modelBackend, modelOf } from './ai/llm/fixture.ts';
import { issue, makeSigner } from './auth/fixture.ts';
import { publish, take } from './backend/pubsub/nats-endpoints.ts';

/** Opens at the first failure. */
const breaker = { 'qos/circuit-breaker': { interval: 60, timeout: 60, max_errors: 1 } };

/** State of a request when its client disconnects. */
interface Case {
  readonly endpoint: object;
  readonly root?: object;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
  /** Bytes of the body that the client owes when it disconnects. */
  readonly missing?: number;
}

describe('a client that disconnects in the middle of a call', function () {
  this.timeout(30_000);
  let server: Server;
  let url: string;
  let grpc: TestGrpcServer;
  let nats: TestNats | null = null;
  let gateway: Operations | undefined;
  let restore = (): void => {};
  let sinks: ReturnType<typeof rememberingSinks>;
  /** The path or method that is left without a response for now. */
  let held: string | null;
  /** Responds to each request and call that is. */
  let waiting: (() => void)[];
  /** Bodies of responses by path, where they are others than usual. */
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
      // It is there with its headers; its body may never be whole.
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
    sinks = rememberingSinks();
    held = null;
    waiting = [];
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    restore();
    restore = () => {};
  });

  const start = async ({ endpoint, root }: Case): Promise<number> => {
    gateway = await startGateway({ ...root, endpoints: [{ endpoint: '/a', timeout: '60s', ...endpoint }] }, { sinks });
    const { port } = await gateway.listen();
    // Findings about the configuration are ignored.
    sinks.lines.length = 0;
    return port;
  };
  const running = (): number => gateway!.status.calls + gateway!.status.streams;
  /** A client that sends the request of the case, and disconnects once the other side has it. */
  const disconnect = async (port: number, given: Case, isReached: () => boolean): Promise<void> => {
    const { method = 'GET', headers = {}, payload = '', missing = 0 } = given;
    const { socket, write } = await openRaw(port);
    const all = {
      Host: 'a',
      ...headers,
      ...(payload !== '' && { 'Content-Length': String(payload.length + missing) }),
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    write(`${method} /a HTTP/1.1\r\n${lines.join('')}\r\n${payload}`);
    await until(() => running() === 1 && isReached());
    socket.resetAndDestroy();
    await until(() => running() === 0);
  };
  const ask = async ({ method = 'GET', headers = {}, payload = '' }: Case): Promise<number> =>
    (await gateway!.inject({ method, url: '/a', headers, payload } as never)).statusCode;
  /** Errors counted and logged for other sides afterwards. */
  const blamed = () => {
    const { published } = partsOf(gateway!).generations.current.runtime.compiled;
    const lines = sinks.lines.filter((line) => / (?:ERROR|CRITICAL|WARNING)/.test(line));
    return { errors: published[0]!.traffic.errors, lines };
  };
  const nobody = { errors: 0, lines: [] };

  const backend = (path: string, extra: object = {}, more: object = {}) => ({
    host: [url],
    url_pattern: path,
    ...more,
    extra_config: { ...breaker, ...extra },
  });

  /** By what is waited for: the path that does not respond meanwhile, and the case. */
  const cases: Readonly<Record<string, readonly [path: string, given: () => Case | Promise<Case>]>> = {
    'a backend': ['/', () => ({ endpoint: { backend: [backend('/')] } })],
    'a backend in the middle of its response': [
      '/rest',
      () => ({ endpoint: { output_encoding: 'no-op', backend: [backend('/rest', {}, { encoding: 'no-op' })] } }),
    ],
    'a backend that has a part of the request': [
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
    'a backend whose responses are cached': [
      '/',
      () => ({ endpoint: { backend: [backend('/', { 'qos/http-cache': {} })] } }),
    ],
    'a server of tokens': [
      '/token',
      () => {
        const token_url = `${url}/token`;
        answers.set('/token', { access_token: 't', token_type: 'bearer', expires_in: 3600 });
        const credentials = { client_id: 'gate', client_secret: 'secret', token_url };
        return { endpoint: { backend: [backend('/', { 'auth/client-credentials': credentials })] } };
      },
    ],
    'a server of keys': [
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
    'a gRPC server': [
      'Find',
      () => {
        const called = backend('/shop.Shop/Find', { 'backend/grpc': {} }, { host: [grpc.host] });
        return { root: { extra_config: { grpc: { catalog: [SHOP] } } }, endpoint: { backend: [called] } };
      },
    ],
  };
  for (const [what, [path, give]] of Object.entries(cases)) {
    it(`does not count as a failure of ${what}: the next client is served`, async () => {
      const given = await give();
      held = path;
      const port = await start(given);
      for (let client = 0; client < 3; client++) await disconnect(port, given, () => waiting.length > 0);
      release();
      deepEqual(blamed(), nobody);
      equal(await ask(given), 200);
      deepEqual(blamed(), nobody);
    });
  }

  (withoutNats ? describe.skip : describe)(`and a broker${withoutNats ? `: ${withoutNats}` : ''}`, () => {
    const broker = (extra: object) => backend('/', extra, { host: ['nats://'], disable_host_sanitize: true });

    it('does not count as a failure of publishing', async () => {
      restore = setEnvironment({ NATS_SERVER_URL: nats!.address });
      const given = {
        endpoint: publish('events', {
          endpoint: '/a',
          backend: [broker({ 'backend/pubsub/publisher': { topic_url: 'events' } })],
        }),
        method: 'POST',
        payload: '{}',
      };
      const port = await start(given);
      equal(await ask(given), 200);
      nats!.pause();
      for (let client = 0; client < 3; client++) await disconnect(port, given, () => true);
      nats!.resume();
      deepEqual(blamed(), nobody);
      equal(await ask(given), 200);
    });

    it('does not count as a failure of a subscription', async () => {
      restore = setEnvironment({ NATS_SERVER_URL: nats!.address });
      const given = {
        endpoint: take('events', {
          endpoint: '/a',
          backend: [broker({ 'backend/pubsub/subscriber': { subscription_url: 'events' } })],
        }),
      };
      const port = await start(given);
      for (let client = 0; client < 3; client++) await disconnect(port, given, () => true);
      deepEqual(blamed(), nobody);
      const client = await nats!.connect();
      const publishing = setInterval(() => client.publish('events', '{"a":1}'), 20);
      try {
        equal(await ask(given), 200);
      } finally {
        clearInterval(publishing);
      }
    });
  });
});
