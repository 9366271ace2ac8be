import { deepEqual, equal, ok } from 'node:assert/strict';
import { Pool } from 'undici';
import type { LogDestination } from '#contract';
import type { Operations } from '#kernel';
import { toolServices } from '../../kernel/cli/tools.ts';
import { createSinks, type ProcessSinks } from '../../kernel/logging/index.ts';
import { Registry } from '../../kernel/registry/registry.ts';
import { examine } from '../../kernel/runtime/build/build.ts';
import { catalogue } from '../../plugins/index.ts';
import { until } from '../support/conditions.ts';
import { startGateway } from '../support/gateway.ts';
import { everything } from './config.ts';
import { startSurroundings } from './servers.ts';

const program = bundledProgram();

import { callUnary } from '../support/grpc/caller.ts';
import { shopClient } from '../support/grpc/server.ts';
import { bundledProgram } from '../support/programs.ts';

/**
 * Components that are not in the configuration: those with another name or form here, with a separate process, or whose
 * server address cannot be configured.
 */
const leftOut = new Set([
  'admin/api',
  'auth/jose',
  'auth/revoker/server',
  'telemetry/moesif',
  'telemetry/newrelic',
  'telemetry/opencensus',
  ...(catalogue.always ?? []),
]);

/** The Lambda function is served by a server of the test, and no broker runs. */
const credentials = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
  NATS_SERVER_URL: 'nats://127.0.0.1:1',
};

describe('a configuration with every component', function () {
  // The time limit is raised, because processes and load take long on a busy machine.
  this.timeout(120_000);
  let surroundings: Awaited<ReturnType<typeof startSurroundings>>;

  let sinks: ProcessSinks;

  before(async () => {
    Object.assign(process.env, credentials);
    surroundings = await startSurroundings();
    const unread: LogDestination = { write: (_lines, done) => done() };
    sinks = createSinks({ stdout: unread, stderr: unread });
  });
  after(async () => {
    for (const name of Object.keys(credentials)) delete process.env[name];
    sinks.close();
    await surroundings.close();
  });

  it('includes every component of the release', () => {
    const text = JSON.stringify(everything(surroundings));
    const components = Object.keys(catalogue.plugins).filter((name) => !/^(?:encoding|discovery)\//.test(name));
    const missing = components.filter((name) => !leftOut.has(name) && !text.includes(`"${name}"`));
    ok(missing.length === 0, `${missing.join(', ')}: add it to test/everything/config.ts`);
  });

  it('passes check without an error', async () => {
    const registry = new Registry(catalogue, toolServices());
    const { errors } = await examine(everything(surroundings), {}, registry, true);
    await registry.close();
    deepEqual(errors, []);
  });

  it('does not crash check when endpoints have no backends', async () => {
    type Place = { endpoint: string; backend?: unknown };
    const registry = new Registry(catalogue, toolServices());
    for (const backend of [[], undefined]) {
      const document = JSON.parse(JSON.stringify(everything(surroundings))) as { endpoints: Place[] };
      const whole = document.endpoints.length;
      for (const endpoint of document.endpoints) endpoint.backend = backend;
      const text = JSON.stringify(document);
      const { errors } = await examine(JSON.parse(text), {}, registry, true);
      ok(errors.length > 0 && whole > 0);
      for (const { code, pointer, message } of errors) {
        ok(!/Cannot read|undefined|is not/.test(message), `${code} ${pointer} ${message}`);
      }
    }
    await registry.close();
  });

  for (const count of [1, 3]) {
    describe(`with ${count === 1 ? 'one process' : `${count} workers`}`, () => {
      /** Number of reloads. With workers, each one takes a second of processor time. */
      const reloads = count === 1 ? 6 : 3;
      let gateway: Operations;
      let pool: Pool;
      let token: string;

      before(async () => {
        const workers = count === 1 ? {} : { workers: { count, program, args: [] } };
        gateway = await startGateway(everything(surroundings), { sinks, ...workers });
        const { port } = await gateway.listen();
        pool = new Pool(`http://127.0.0.1:${port}`, { connections: 12 });
        token = (await ask('POST', '/login')).access_token;
      });
      after(async () => {
        await pool.close();
        await gateway.close();
      });

      const ask = async (method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, status = 200) => {
        const sent = { 'content-type': 'application/json', origin: 'https://www.shop.example', ...headers };
        const body = method === 'POST' ? '{"item":"a"}' : null;
        const response = await pool.request({ method, path, headers: sent, body });
        const text = await response.body.text();
        equal(response.statusCode, status, `${method} ${path}: ${response.statusCode} ${text}`);
        equal(response.headers['access-control-allow-origin'], 'https://www.shop.example');
        equal(response.headers['x-frame-options'], 'DENY');
        return text.startsWith('{') ? JSON.parse(text) : text;
      };
      const called = async () => {
        const client = shopClient(`127.0.0.1:${(await gateway.listen()).port}`);
        const { value } = await callUnary(client, 'Find', { name: 'ada' });
        client.close();
        return value;
      };
      const authorized = () => ({ authorization: `Bearer ${token}` });

      const servesRequests = async (): Promise<void> => {
        deepEqual(await ask('GET', '/users/1', authorized()), {
          user: 'ada',
          round: 0,
          shared: 'Bearer of-the-gateway',
          scripted: 'client',
        });
        deepEqual(await ask('POST', '/orders'), { ordered: true });
        deepEqual(await ask('POST', '/models/a'), { ai_gateway_response: [{ contents: ['a'] }], usage: 2 });
        equal((await ask('POST', '/mcp', {}, 400)).error.code, -32600);
        deepEqual(await ask('GET', '/graph/7', { authorization: `Basic ${btoa('ada:p')}` }), {
          user: { id: '7' },
          modified: true,
        });
        deepEqual(await ask('GET', '/function/7', { 'x-api-key': 'of-the-test' }), { invoked: { id: '7' } });
        deepEqual(await ask('GET', '/things/a'), { id: 'of-grpc' });
        deepEqual(await called(), { id: 'of-grpc' });
        await until(() => surroundings.gelfMessages() > 0);
      };

      it('serves requests', servesRequests);

      it('serves the same requests while its endpoints are observed, and times each of them', async () => {
        const { published } = gateway.serving.compiled;
        const ids = published.map(({ endpoint }) => `${endpoint.method} ${endpoint.endpoint}`);
        const observe = async () => (await Promise.all(ids.map((id) => gateway.processes.observe(id)))).flat();
        equal((await observe()).length, ids.length * count);
        const sampled: { readonly times: unknown }[] = [];
        // On a busy machine, the requests can take longer than a process observes without being asked again.
        await until(async () => {
          await servesRequests();
          for (const { requests } of await observe()) sampled.push(...requests.flatMap(({ sample }) => sample ?? []));
          return sampled.length >= 5;
        });
        ok(
          sampled.every(({ times }) => times !== null),
          'every pipe can be timed',
        );
        for (const id of ids) gateway.processes.unobserve(id);
      });

      it('exports its metrics to Prometheus', async () => {
        await until(async () => {
          const response = await fetch(`http://127.0.0.1:${surroundings.metricsPort}/metrics`);
          const text = await response.text();
          return text.includes('http_server') && text.includes('/users/{id}');
        });
      });

      it('writes the metrics of all processes to InfluxDB', async () => {
        await until(() => surroundings.influxLines().includes('name=/users/:id,status=200 '));
      });

      it('rejects requests without credentials, from unwanted clients such as bots and with invalid values', async () => {
        await ask('GET', '/users/1', {}, 401);
        await ask('GET', '/function/7', {}, 401);
        await ask('GET', '/users/1', { ...authorized(), 'user-agent': 'BadClient' }, 403);
        await ask('GET', '/orders', { 'user-agent': 'badbot/1' }, 403);
        await ask('GET', '/users/123456789012345678901', authorized(), 500);
      });

      it('loses no request during reloads under load', async () => {
        let isOver = false;
        let answered = 0;
        const rounds = new Set<number>();
        const client = async (): Promise<void> => {
          while (!isOver) {
            rounds.add((await ask('GET', `/users/${answered % 7}`, authorized())).round);
            await ask('POST', '/orders');
            answered += 2;
          }
        };
        const load = Promise.all(Array.from({ length: 8 }, client));
        for (let round = 1; round <= reloads; round++) {
          const { result } = await gateway.reload(everything(surroundings, round));
          equal(result, 'applied');
          const before = answered;
          await until(() => answered > before + 40);
        }
        isOver = true;
        await load;
        ok(rounds.has(reloads), `only ${[...rounds]}`);
      });

      it('rejects a token in every process once it is revoked', async () => {
        const url = `http://127.0.0.1:${surroundings.revokerPort}/add`;
        const added = await fetch(url, { method: 'POST', body: JSON.stringify({ elems: ['sub-ada'] }) });
        deepEqual(await added.json(), { count: 1 });
        await until(async () => {
          const statuses = await Promise.all(
            Array.from({ length: 12 }, async () => {
              const { statusCode, body } = await pool.request({
                method: 'GET',
                path: '/users/1',
                headers: authorized(),
              });
              await body.dump();
              return statusCode;
            }),
          );
          return statuses.every((status) => status === 401);
        });
      });
    });
  }
});
