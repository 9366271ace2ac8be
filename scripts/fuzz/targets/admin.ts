import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Operations } from '#kernel';
import { startAdmin } from '../../../admin/index.ts';
import type { Operation, Parameter } from '../../../admin/operation.ts';
import { changing } from '../../../admin/operations/changing.ts';
import { reading } from '../../../admin/operations/reading.ts';
import { createGateway } from '../../../kernel/sluice.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { ask, type HttpCall } from '../ask.ts';
import { applyChange, type Change, changes } from '../changes.ts';
import { data, oddTexts } from '../grammar.ts';
import { callers, config, HEADER, SECRET } from '../guarded.ts';
import { defineTarget, type OpenTarget } from '../target.ts';

interface Request {
  /** Method and path, as in `GET /v1/revisions/:number`. */
  readonly operation: string;
  readonly caller: string;
  /** Values of the operation's parameters, and of unknown parameters. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Body to send as it is, or changes to apply to the configuration. */
  readonly body: string | readonly Change[] | null;
}

const mcp: Pick<Operation, 'method' | 'path' | 'scope' | 'accepts' | 'parameters'> = {
  method: 'POST',
  path: '/v1/mcp',
  scope: 'read',
  accepts: ['application/json'],
};
const operations = new Map(
  [...changing, ...reading, mcp].map((operation) => [`${operation.method} ${operation.path}`, operation]),
);

const words = fc.oneof(
  fc.constantFrom(
    '',
    '1',
    '2',
    '0',
    'true',
    'false',
    'source',
    'effective',
    'rendered',
    '/endpoints/0',
    '1s',
    'GET',
    '*',
  ),
  fc.constantFrom(
    '/a',
    'http',
    'auth/api-keys',
    'serving',
    '100',
    '-1',
    'now',
    '/extra_config/auth~1api-keys/keys',
    HEADER,
  ),
  oddTexts.map((text) => text.slice(0, 2_000)),
);
const tools = ['getConfig', 'getStatus', 'getRevisions', 'proposeConfig', 'applyConfig', 'getRoutesMatch'];
const messages = fc.tuple(fc.constantFrom(...tools), data).map(([name, value]) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { reveal: true, pointer: '', config: value, configuration: JSON.stringify(value) } },
  }),
);
/** Requests for `try` and `explain`. */
const samples = fc
  .record(
    {
      path: fc.constantFrom('/a', '/b/1', '/b/..%5Cx', '//a', '/a?x=%', '/__echo/', '/a;b', '/%00'),
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'CONNECT', 'TRACE', 'OPTIONS', 'QUERY', 'X'),
      headers: fc.dictionary(
        fc.constantFrom(
          'Upgrade',
          'Connection',
          'Expect',
          'Content-Length',
          'Transfer-Encoding',
          'Host',
          '__proto__',
          'X-Key',
        ),
        fc.constantFrom<string | string[]>('websocket', 'upgrade', '100-continue', '5', 'chunked', '', ['a', 'b'], []),
        { maxKeys: 3, noNullPrototype: true },
      ),
      body: oddTexts,
    },
    { requiredKeys: ['path'], noNullPrototype: true },
  )
  .map((sample) => JSON.stringify(sample));
const bodies: fc.Arbitrary<Request['body']> = fc.oneof(
  samples,
  fc.array(changes, { maxLength: 2 }),
  data.map((value) => JSON.stringify(value)),
  messages,
  fc.constantFrom(
    // The duration is longer than an input takes, because the level is reset after each input, and one that expires
    // earlier would count as a change.
    '{"level":"DEBUG","ttl":"1h"}',
    '{"level":"DEBUG","ttl":"999999h"}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    '{"name":"other"}',
    '{"extra_config":{"auth/api-keys":null}}',
    '[{"op":"replace","path":"/name","value":"x"}]',
    '[{"op":"add","path":"/endpoints/-","value":{"endpoint":"/c","backend":[{"host":["http://127.0.0.1:9"],"url_pattern":"/"}]}}]',
    '[{"op":"test","path":"/__proto__/a","value":1}]',
    'version: 3\nendpoints: []\n',
    `${'['.repeat(5_000)}`,
    '',
  ),
  fc.constant(null),
);
const headers = fc.dictionary(
  fc.constantFrom(
    'If-Match',
    'If-None-Match',
    'Idempotency-Key',
    'Accept',
    'Content-Type',
    'Content-Encoding',
    'Last-Event-ID',
    'X-Forwarded-For',
    'Range',
    'Host',
    'Origin',
    'Sec-Fetch-Site',
    'Sec-Fetch-Mode',
    'Upgrade',
    'Authorization',
  ),
  fc.oneof(
    fc.constantFrom('*', '"1"', 'k', 'application/json', 'application/yaml', 'text/html', 'gzip', '127.0.0.1'),
    fc.constantFrom('null', 'http://localhost', 'localhost', 'cross-site', 'no-cors', 'websocket', 'Bearer a'),
    oddTexts.map((text) => text.replace(/[^\x21-\x7e]/g, '').slice(0, 300)),
  ),
  { maxKeys: 3, noNullPrototype: true },
);
const requests = fc.oneof(...[...operations].map(([name, operation]) => requestsOf(name, operation)));

function requestsOf(
  name: string,
  { parameters = [], accepts }: { parameters?: readonly Parameter[]; accepts?: readonly string[] },
) {
  const names = parameters.filter((parameter) => parameter.in !== 'header').map((parameter) => parameter.name);
  const ofBody = accepts
    ? fc.constantFrom(...accepts).map((type) => ({ 'Content-Type': type, 'If-Match': '*' }))
    : fc.constant({});
  return fc.record({
    operation: fc.constant(name),
    caller: fc.constantFrom(...Object.keys(callers)),
    parameters: fc.dictionary(names.length > 0 ? fc.constantFrom(...names) : fc.constant('a'), words, {
      maxKeys: names.length > 0 ? 3 : 0,
      noNullPrototype: true,
    }),
    headers: fc.tuple(ofBody, headers).map(([own, others]) => ({ ...own, ...others })),
    body: accepts ? bodies : fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, bodies),
  });
}

/** Requests of the admin API under every scope. */
export const admin = defineTarget<readonly Request[]>({
  name: 'admin',
  law: 'A caller reads and changes only what its scopes allow, sees no secret, and gets a response that is documented.',
  boundMs: 2_000,
  rooms: ['admin/'],
  inputs: fc.array(requests, { minLength: 1, maxLength: 3 }),
  open,
});

async function open(): Promise<OpenTarget<readonly Request[]>> {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'sluice-fuzz-'));
  let stops = 0;
  const gateway = (await createGateway(config as never, { port: 0, sinks: silentSinks })) as Operations;
  const running = await startAdmin(gateway, {
    listen: '127.0.0.1:0',
    token: undefined,
    stateDirectory,
    stop: () => {
      stops += 1;
    },
  });
  const address = running.address!;
  const { body: described } = await ask(address, {
    target: '/v1/admin-openapi',
    method: 'GET',
    headers: bearer('all'),
  });
  const documented = statusesOf(JSON.parse(described));
  const stateOf = async () => {
    const { body } = await ask(address, { target: '/v1/logging', method: 'GET', headers: bearer('all') });
    const pinned = gateway.revisions.list().filter((revision) => revision.pinned);
    return JSON.stringify([gateway.status.hash, gateway.processes.closing, JSON.parse(body).level, pinned, stops]);
  };
  return {
    async accept(input) {
      try {
        for (const each of input) await tryRequest(each);
      } finally {
        await restore(gateway);
        await ask(address, { target: '/v1/resume', method: 'POST', headers: bearer('all') });
        const ended = '{"level":"INFO","ttl":"0s"}';
        await ask(address, { target: '/v1/logging', method: 'PUT', headers: bearer('all'), body: ended });
      }
    },
    async close() {
      await running.close();
      await gateway.close();
      rmSync(stateDirectory, { recursive: true, force: true });
    },
  };

  async function tryRequest(given: Request): Promise<void> {
    const operation = operations.get(given.operation)!;
    const scopes = callers[given.caller]!;
    const mayChange = scopes.includes('write') || scopes.includes('ops');
    const before = mayChange ? '' : await stateOf();
    const { status, head, body } = await ask(address, toCall(given, operation));
    const asked = `${given.operation} as ${given.caller}`;
    if (status === 500) throw new Error(`${asked}: answers ${status}: ${body.slice(0, 300)}`);
    const isAllowed = operation.scope === null || scopes.includes(operation.scope);
    const isOpen = 'openOnLoopback' in operation && operation.openOnLoopback === true;
    if (status < 400 && !isAllowed && !isOpen) throw new Error(`${asked}: is served with ${status}`);
    if (!scopes.includes('secrets') && (head + body).includes(SECRET))
      throw new Error(`${asked}: shows a secret: ${body.slice(0, 1_000)}`);
    if (!mayChange && (await stateOf()) !== before) throw new Error(`${asked}: changes the gateway`);
    const known = documented.get(given.operation);
    if (!known) throw new Error(`${asked}: is not documented`);
    if (!known.has(status))
      throw new Error(`${asked}: answers ${status}, which is not documented: ${body.slice(0, 300)}`);
  }
}

/** Reverts changes made by other callers. */
async function restore(gateway: Operations): Promise<void> {
  await gateway.apply({ trigger: 'api', source: config, recorded: false });
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function toCall(
  { caller, parameters, headers: given, body }: Request,
  operation: Pick<Operation, 'method' | 'path'>,
): HttpCall {
  const left = { ...parameters };
  const path = operation.path.replace(/[:*]([A-Za-z]+)/g, (_match, name: string) => {
    const value = left[name] || '1';
    delete left[name];
    return encodeURIComponent(value.toWellFormed());
  });
  const query = new URLSearchParams(left).toString();
  return {
    method: operation.method,
    target: query ? `${path}?${query}` : path,
    headers: { ...given, ...(caller !== 'none' && bearer(caller)) },
    body: Array.isArray(body) ? changed(body) : (body as string | null),
  };
}

function changed(list: readonly Change[]): string {
  const document = structuredClone(config);
  for (const change of list) applyChange(document, change);
  // The configuration in the form that is shown to callers that may not see secrets.
  return JSON.stringify(document).replaceAll(SECRET, '***');
}

/** Documented status codes by method and path. */
function statusesOf(document: {
  paths: Record<string, Record<string, { responses: object }>>;
}): Map<string, Set<number>> {
  const all = new Map<string, Set<number>>();
  for (const name of operations.keys()) {
    const [method, path] = name.split(' ') as [string, string];
    const described = document.paths[path.replace(/[:*]([A-Za-z]+)/g, '{$1}')]?.[method.toLowerCase()];
    if (described) all.set(name, new Set(Object.keys(described.responses).map(Number)));
  }
  return all;
}
