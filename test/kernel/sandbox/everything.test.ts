import { deepEqual } from 'node:assert/strict';
import type { Configuration, SandboxRequest } from '#contract';
import { openSandbox } from '../../../kernel/sandbox/open-sandbox.ts';
import { catalogue } from '../../../plugins/index.ts';
import { everything } from '../../everything/config.ts';
import { until } from '../../support/conditions.ts';
import { setEnvironment } from '../../support/environment.ts';

/** Protocols of the configuration that have a request at one of its endpoints. */
const protocols = [
  'backend/amqp/consumer',
  'backend/amqp/producer',
  'backend/grpc',
  'backend/pubsub/publisher',
  'backend/pubsub/publisher/kafka',
  'backend/pubsub/subscriber',
  'backend/pubsub/subscriber/kafka',
  'http',
];

/** Components that connect on their own while the gateway starts. */
const refusing = ['redis connection of counters, ', 'component of "telemetry/influx", '];

describe('a sandbox with every component', function () {
  this.timeout(60_000);

  it('answers requests to mocked servers, refuses all other connections and opens none', async () => {
    const refused = new Set<string>();
    const requests: SandboxRequest[] = [];
    const body = Buffer.from('{"id":1,"data":{"user":{"id":1}}}');
    const session = {
      respond(request: SandboxRequest) {
        requests.push(request);
        return { status: 200, headers: ['Content-Type', 'application/json'], body, delayMs: 0 };
      },
      refused: ({ owner, address }: { owner: string; address: string }) => void refused.add(`${owner}, to ${address}`),
      logged() {},
    };
    const surroundings = {
      upstream: 'http://192.0.2.1:8000',
      grpcHost: '192.0.2.1:8001',
      redisPort: 1,
      gelfPort: 2,
      metricsPort: 3,
      revokerPort: 4,
    };
    // The address is set here, because other suites may have set another one.
    const restore = setEnvironment({ NATS_SERVER_URL: 'nats://192.0.2.1:4222' });
    const sandbox = await openSandbox(catalogue, everything(surroundings) as unknown as Configuration, session);
    try {
      const { endpoints } = sandbox.gateway.config;
      for (const { endpoint, method } of endpoints) {
        const url = endpoint.replaceAll(/\{\w+\}|\*/g, '1');
        await sandbox.inject(session, { method: method === 'ANY' ? 'GET' : (method as 'GET'), url });
      }
      await until(() => refusing.every((owner) => [...refused].some((each) => each.startsWith(owner))));
    } finally {
      await sandbox.close();
      restore();
    }
    deepEqual(
      process.getActiveResourcesInfo().filter((kind) => /TCP|UDP|Pipe(?!Wrap)/.test(kind)),
      [],
    );
    deepEqual([...new Set(requests.map(({ protocol }) => protocol))].sort(), protocols);
  });
});
