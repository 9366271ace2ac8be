import { deepEqual, equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';

const bin = new URL('../../../kernel/bin.ts', import.meta.url).pathname;

/** Components of an endpoint that the specification lists and this release does not have. */
const ofEndpoints = [
  'ai/mcp',
  'auth/api-keys',
  'auth/basic',
  'auth/signer',
  'auth/validator',
  'documentation/openapi',
  'documentation/postman',
  'governance/quota',
  'modifier/jmespath',
  'modifier/lua-endpoint',
  'modifier/lua-proxy',
  'modifier/request-body-generator',
  'modifier/response-body',
  'modifier/response-body-generator',
  'plugin/middleware',
  'qos/ratelimit/router/redis',
  'qos/ratelimit/tiered',
  'security/bot-detector',
  'security/cors',
  'security/policies',
  'telemetry/opentelemetry',
  'validation/cel',
  'validation/response-json-schema',
  'websocket',
];

/** Backends of other protocols than HTTP: a message queue, a log-streaming platform, an RPC protocol. */
const ofBackends = [
  'backend/amqp/consumer',
  'backend/amqp/producer',
  'backend/pubsub/publisher/kafka',
  'backend/pubsub/subscriber/kafka',
  'backend/grpc',
];

interface Mistake {
  readonly code: string;
  readonly message: string;
  readonly pointer: string;
}

function mapOf(namespaces: readonly string[]): object {
  return Object.fromEntries(namespaces.map((namespace) => [namespace, {}]));
}

describe('check', () => {
  let exitCode: number;
  let mistakes: readonly Mistake[];

  before(async function () {
    this.timeout(30_000);
    const folder = mkdtempSync(join(tmpdir(), 'sluice-'));
    const file = join(folder, 'components.json');
    const backend = { host: ['http://127.0.0.1:9'], url_pattern: '/', extra_config: mapOf(ofBackends) };
    const endpoint = { endpoint: '/x', extra_config: mapOf(ofEndpoints), backend: [backend] };
    writeFileSync(file, JSON.stringify({ version: 3, endpoints: [endpoint] }));
    const child = spawn(process.execPath, [bin, 'check', '-c', file, '--format', 'json'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed, [code]] = await Promise.all([readJson(child.stdout), once(child, 'close')]);
    exitCode = code;
    mistakes = (printed as { errors: Mistake[] }).errors;
    rmSync(folder, { recursive: true });
  });

  const places = [
    ['/endpoints/0/extra_config', ofEndpoints],
    ['/endpoints/0/backend/0/extra_config', ofBackends],
  ] as const;
  for (const [place, namespaces] of places) {
    for (const namespace of namespaces) {
      it(`refuses ${namespace} by name`, () => {
        const pointer = `${place}/${namespace.replaceAll('/', '~1')}`;
        const found = mistakes.filter((mistake) => mistake.pointer === pointer);
        deepEqual(
          found.map(({ code, message }) => `${code} ${message}`),
          [`CONFIG_NOT_SUPPORTED '${namespace}' is not supported yet`],
        );
        equal(exitCode, 1);
      });
    }
  }
});
