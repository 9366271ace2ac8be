import { deepEqual } from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isLong } from '../support/budget.ts';
import { setEnvironment } from '../support/environment.ts';
import { openGateway, rememberingSinks } from '../support/gateway.ts';
import { bundledProgram } from '../support/programs.ts';
import { variables } from './variables.ts';

/** Samples that need another system at startup, or use a replaced component, and say so in the log. */
const others: Readonly<Record<string, string>> = {
  'samples/clouds/gateway.json': 'brokers of three clouds',
  'samples/kafka/gateway.json': 'Kafka',
  'samples/messages/gateway.json': 'RabbitMQ',
  'samples/mutual-tls/gateway.json': 'certificates',
  'samples/plugins/inbox/gateway.json': 'a folder of messages',
  'samples/plugins/redis-check/gateway.json': 'Redis',
  'samples/plugins/secret-store/gateway.json': 'a store of secrets',
  'samples/pubsub/gateway.json': 'NATS',
  'samples/quotas/gateway.json': 'Redis',
  'samples/secrets/gateway.json': 'Vault and AWS',
  'samples/sockets/gateway.json': 'a WebSocket server',
  'samples/telemetry/influx.json': 'InfluxDB',
  'samples/telemetry/opencensus.json': 'a protocol that is replaced',
  'samples/tokens/revocation.json': 'a revoke server',
};

const home = process.cwd();
const program = bundledProgram();

const configurations = globSync([
  'samples/*/{gateway,introspection,login,invoices,newrelic,moesif,backends}.json',
  'samples/plugins/*/gateway.json',
])
  .filter((file) => !Object.hasOwn(others, file))
  .sort();

/** Lines of at least WARNING that a gateway has logged once it listens. */
async function complaints(file: string, workers: number): Promise<readonly string[]> {
  const isPlugin = file.startsWith('samples/plugins/');
  if (isPlugin) process.chdir(dirname(file));
  const sinks = rememberingSinks();
  const gateway = await openGateway(isPlugin ? basename(file) : file, {
    port: 0,
    sinks,
    log: true,
    ...(workers > 0 && { workers: { count: workers, program, args: [] } }),
  });
  try {
    await gateway.listen();
    return sinks.lines.filter((line) => /\b(WARNING|ERROR|CRITICAL)\b/.test(line));
  } finally {
    await gateway.close();
  }
}

describe('a healthy start', () => {
  let restore: () => void;

  before(() => {
    restore = setEnvironment(variables);
  });
  after(() => restore());
  afterEach(() => process.chdir(home));

  for (const file of configurations) {
    it(`logs no warning and no error with ${file}`, async () => deepEqual(await complaints(file, 0), []));

    if (isLong || file === 'samples/quickstart/gateway.json') {
      it(`logs no warning and no error with ${file} and one worker`, async () =>
        deepEqual(await complaints(file, 1), []));
    }
  }
});
