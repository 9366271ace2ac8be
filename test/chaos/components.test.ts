import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operations } from '#kernel';
import {
  type ComponentRow,
  componentRows,
  type Outage,
  outages,
  printComponents,
} from '../../scripts/chaos/components.ts';
import { Stage as McpStage } from '../plugins/ai/mcp/setup.ts';
import { issue, makeSigner } from '../plugins/auth/fixture.ts';
import { until } from '../support/conditions.ts';
import { setEnvironment } from '../support/environment.ts';
import { json, startGateway } from '../support/gateway.ts';
import { type AuthorizationServer, startAuthorization } from '../support/grpc/authorization.ts';
import { startGrpc, type TestGrpcServer } from '../support/grpc/server.ts';
import { startNats, type TestNats, withoutNats } from '../support/nats.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';
import type { Stage } from './stage.ts';
import { bodiesOf, stages } from './stages.ts';
import { Switch } from './switch.ts';

/** Timeout of the endpoint if it limits the response. Otherwise the timeout is 20 s, and a response within half of it shows that another limit applied. */
const SHORT = '300ms';
const LONG = '20s';
const LONG_MS = 10_000;

describe('during an outage of its server or broker, the component', function () {
  this.timeout(60_000);
  let http: Server;
  let grpc: TestGrpcServer;
  let authorization: AuthorizationServer;
  const mcp = new McpStage();
  let nats: TestNats | null = null;
  let redis: TestRedis | null = null;
  let token: string;
  let restore: () => void;

  before(async () => {
    restore = setEnvironment({ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' });
    const ada = await makeSigner('RS256', 'ada');
    token = await issue(ada);
    const bodies = bodiesOf(ada.jwk);
    http = createServer((message, response) => {
      message.on('error', () => {}).resume();
      const path = message.url!.replace(/\?.*/, '');
      response.writeHead(200, {
        'Content-Type': path === '/xml' ? 'text/xml' : 'application/json',
        ...(path === '/stale' && { 'Cache-Control': 'max-age=0, stale-if-error=600', ETag: '"a"' }),
      });
      response.end((bodies.get(path) ?? '{}').replaceAll('HOST', message.headers.host!));
    });
    await new Promise<void>((resolve) => {
      http.listen(0, '127.0.0.1', resolve);
    });
    grpc = await startGrpc({ Find: (_call, answer) => answer(null, { id: 'x' }) });
    authorization = await startAuthorization((_call, answer) => answer(null, { status: { code: 0 } }));
    await mcp.start(json({ name: 'Spain' }), { server: { stateless: true, json_response: true } });
    if (!withoutNats) nats = await startNats();
    if (!withoutRedis) redis = await startRedis();
  });
  after(async () => {
    restore();
    http.close().closeAllConnections();
    authorization.close();
    await Promise.all([grpc.close(), mcp.close(), nats?.close(), redis?.close()]);
  });

  const portOf = (server: Stage['server']): number | undefined =>
    ({
      http: (http.address() as AddressInfo).port,
      grpc: Number(grpc.host.split(':')[1]),
      authorization: Number(authorization.host.split(':')[1]),
      nats: nats?.port,
      mcp: mcp.port,
      redis: redis?.port,
    })[server];

  /** Makes the server or broker of a component fail and recover. @returns the statuses before, during and after the failure. */
  async function run(row: ComponentRow, outage: Outage): Promise<readonly unknown[]> {
    const make = stages[row.component]!;
    const target = portOf(make({ side: 1, backend: 1 }, '').server)!;
    const side = await Switch.open(target);
    const stage = make({ side: side.port, backend: portOf('http')! }, token);
    const {
      root = {},
      endpoint,
      method = 'GET',
      headers = {},
      payload = '',
      startsOut = false,
      stored,
      served,
    } = stage;
    const meanwhile = row.meanwhile[outage];
    const timeout = meanwhile.within === 'timeout' ? SHORT : LONG;
    let gateway: Operations | null = null;
    // Sets the environment variable, which is read when the configuration is attached.
    const nothingSet = setEnvironment({ NATS_SERVER_URL: `nats://127.0.0.1:${side.port}` });
    try {
      if (stored) await redis!.command('SET', ...stored);
      if (startsOut) await side.fail(outage);
      gateway = await startGateway({ extra_config: root, endpoints: [{ endpoint: '/a', timeout, ...endpoint }] });
      const send = () => gateway!.inject({ method, url: '/a', headers, payload } as never);
      const ask = async (): Promise<number> => (await send()).statusCode;
      const isServed = async (): Promise<boolean> => {
        const { statusCode, body } = await send();
        return statusCode === 200 && (served?.test(body) ?? true);
      };
      if (!startsOut) await until(isServed);
      await side.fail(outage);
      const from = performance.now();
      const status = await ask();
      ok(performance.now() - from < LONG_MS, `${outage}: ${Math.round(performance.now() - from)} ms`);
      // A second request shows that the behavior stays the same during the outage.
      const again = await ask();
      await side.mend();
      const mendedAt = performance.now();
      await until(isServed);
      ok(
        performance.now() - mendedAt < LONG_MS,
        `${outage}: recovered in ${Math.round(performance.now() - mendedAt)} ms`,
      );
      return [outage, status, again];
    } finally {
      nothingSet();
      await gateway?.close();
      await side.close();
    }
  }

  for (const row of componentRows) {
    const { component, side, recovery } = row;
    const { server } = stages[component]!({ side: 1, backend: 1 }, '');
    const missing = { redis: withoutRedis, nats: withoutNats, http: null, grpc: null, authorization: null, mcp: null }[
      server
    ];
    (missing ? it.skip : it)(
      `${component} behaves as documented, and recovers: ${side}${missing ? ` (${missing})` : ''}`,
      async () => {
        ok(recovery !== '');
        const results: unknown[] = [];
        // Brokers are tested one after another, because environment variables are shared by the whole process.
        if (server === 'nats') for (const outage of outages) results.push(await run(row, outage));
        else results.push(...(await Promise.all(outages.map((outage) => run(row, outage)))));
        deepEqual(
          results,
          outages.map((outage) => [outage, row.meanwhile[outage].status, row.meanwhile[outage].status]),
        );
      },
    );
  }

  it('has a row in test/CHAOS.md', () => {
    deepEqual(
      Object.keys(stages),
      componentRows.map(({ component }) => component),
    );
    equal(readFileSync('test/CHAOS.md', 'utf8'), printComponents());
  });
});
