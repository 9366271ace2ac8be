import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { Level, Plugin } from '#contract';
import type { Gateway } from '#kernel';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { plugin as early } from '../../../plugins/modifier/request-body-extractor/early.ts';
import { plugin } from '../../../plugins/modifier/request-body-extractor/index.ts';
import {
  json,
  rememberingSinks,
  type SeenRequest,
  startBackend,
  startGateway,
  type TestBackend,
} from '../../support/gateway.ts';
import { openHarness } from '../../support/harness.ts';

const body = '{"user":{"id":7,"tags":["a","b"]},"auth":"k1"}';

const namespace = 'modifier/request-body-extractor';

const operation = (
  type: string,
  target: string,
  expression: string,
  conflict = 'replace',
  strategy = 'dotnotation',
) => ({
  ...{ type, strategy, expression, target },
  on_conflict: conflict,
});
const header = (target: string, expression: string, conflict?: string, strategy?: string) =>
  operation('header', target, expression, conflict, strategy);
const query = (target: string, expression: string, conflict?: string, strategy?: string) =>
  operation('query_string', target, expression, conflict, strategy);

/** Errors of a configuration. */
async function faultsOf(at: Plugin, level: Level, config: unknown): Promise<unknown> {
  let faults: unknown;
  await rejects(openHarness(at, level, config), (error: unknown) => {
    if (!(error instanceof ConfigErrors)) throw error;
    faults = error.errors.map(({ code, pointer }) => [code, pointer]);
    return true;
  });
  return faults;
}

describe(namespace, () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;
  let lines: readonly string[];

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  /** A gateway with components at the root and at its single endpoint. */
  const start = async (components: { root?: object; endpoint?: object }, fields: object = {}) => {
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startGateway(
      {
        host: [backend.url],
        extra_config: { 'telemetry/logging': { level: 'DEBUG', stdout: true }, ...components.root },
        endpoints: [
          {
            endpoint: '/a',
            method: 'POST',
            ...fields,
            extra_config: components.endpoint ?? {},
            backend: [{ url_pattern: '/b' }],
          },
        ],
      },
      { sinks },
    );
  };
  const inPipe = (...operations: object[]) => ({ endpoint: { [namespace]: { operations } } });
  const atOnce = (...operations: object[]) => ({ endpoint: { [`${namespace}/early`]: { operations } } });
  const atRoot = (...operations: object[]) => ({ root: { [namespace]: { operations } } });

  const send = async (payload: string | Buffer | undefined = body, headers: object = {}, url = '/a') => {
    const { statusCode } = await gateway!.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', ...headers },
      ...(payload !== undefined && { payload }),
    });
    return { status: statusCode, seen: backend.requests.at(-1)! };
  };
  const valuesOf = ({ rawHeaders }: SeenRequest, name: string) =>
    rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1] === name);

  describe('before authentication', () => {
    const validator = { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json', auth_header_name: 'X-Key' };
    const token = async () => {
      const signer = await startGateway({
        host: [backend.url],
        endpoints: [
          {
            endpoint: '/login',
            extra_config: {
              'auth/signer': {
                ...{ alg: 'HS256', kid: 'sample', keys_to_sign: ['t'], disable_jwk_security: true },
                jwk_local_path: 'samples/tokens/keys.json',
              },
              proxy: { static: { strategy: 'always', data: { t: { sub: 'ada', exp: 4_000_000_000 } } } },
            },
            backend: [{ url_pattern: '/' }],
          },
        ],
      });
      const { body: text } = await signer.inject('/login');
      await signer.close();
      return (JSON.parse(text) as { t: string }).t;
    };
    const both = (operations: readonly object[]) => ({
      endpoint: { [`${namespace}/early`]: { operations }, 'auth/validator': validator },
    });

    it('reads credentials from the body', async () => {
      await start(both([header('X-Key', 'auth', 'skip')]));
      equal((await send(JSON.stringify({ auth: await token() }))).status, 200);
      equal((await send()).status, 401);
    });

    it('keeps existing header values with "skip"', async () => {
      await start(both([header('X-Key', 'auth', 'skip')]));
      equal((await send(JSON.stringify({ auth: await token() }), { 'x-key': 'zz' })).status, 401);
    });

    it('prefers values of the body with "replace"', async () => {
      await start(both([header('X-Key', 'auth', 'replace')]));
      equal((await send(JSON.stringify({ auth: await token() }), { 'x-key': 'zz' })).status, 200);
    });
  });

  it('writes a query parameter for the backend', async () => {
    await start(inPipe(query('uid', 'user.id')), { input_query_strings: ['uid'] });
    equal((await send(body, {}, '/a?uid=1')).seen.target, '/b?uid=7');
  });

  it('appends a value to the header', async () => {
    await start(inPipe(header('X-T', 'user.tags[0]', 'append', 'jmespath')), { input_headers: ['X-T'] });
    deepEqual(valuesOf((await send(body, { 'x-t': 'z' })).seen, 'X-T'), ['z', 'a']);
  });

  it('writes an array as compact JSON', async () => {
    await start(inPipe(header('X-T', 'user.tags')));
    deepEqual(valuesOf((await send()).seen, 'X-T'), ['["a","b"]']);
  });

  it('writes nothing if the body lacks the value', async () => {
    await start(inPipe(header('X-T', 'user.none'), header('X-N', 'n'), header('X-I', 'user.tags.0')));
    const { seen } = await send('{"user":{"tags":["a"]},"n":null}');
    deepEqual([seen.headers['x-t'], seen.headers['x-n'], seen.headers['x-i']], [undefined, undefined, undefined]);
  });

  it('applies the forwarding lists to the values if it runs before filtering', async () => {
    await start(atOnce(header('X-U', 'user.id'), query('u', 'user.id')));
    const { seen } = await send();
    deepEqual([seen.headers['x-u'], seen.target], [undefined, '/b']);
    await gateway!.close();
    await start(atOnce(header('X-U', 'user.id'), query('u', 'user.id')), {
      input_headers: ['X-U'],
      input_query_strings: ['u'],
    });
    const again = await send(body, { 'x-u': '1' }, '/a?u=1&v=2');
    deepEqual([again.seen.headers['x-u'], again.seen.target], ['7', '/b?u=7']);
  });

  it('forwards a body that is not JSON, and logs this at DEBUG', async () => {
    await start(inPipe(header('X-T', 'a')));
    const { status, seen } = await send('not json');
    deepEqual([status, String(seen.body), seen.headers['x-t']], [200, 'not json', undefined]);
    ok(lines.some((line) => /DEBUG.*the body is not valid JSON/.test(line)));
    equal((await send('')).status, 200);
    ok(lines.some((line) => /DEBUG.*the request has no body/.test(line)));
  });

  it('forwards the body byte for byte', async () => {
    await start({ ...atRoot(header('X-R', 'a')), ...inPipe(header('X-T', 'a')) });
    const text = '{ "a" : 1.0 ,\n"b":"é" }';
    const { seen } = await send(text);
    deepEqual([String(seen.body), seen.headers['content-length']], [text, String(Buffer.byteLength(text))]);
  });

  it('writes values as text: numbers in their original notation', async () => {
    const names = ['text', 'empty', 'whole', 'decimal', 'exponent', 'big', 'yes', 'object'];
    await start(inPipe(...names.map((name) => header(`X-${name}`, name))));
    const { seen } = await send(
      '{"text":" a ","empty":"","whole":7,"decimal":1.50,"exponent":1e3,"big":9007199254740993,"yes":true,"object":{"b": [1.0, null]}}',
    );
    deepEqual(
      names.map((name) => seen.headers[`x-${name}`]),
      ['a', '', '7', '1.50', '1e3', '9007199254740993', 'true', '{"b":[1.0,null]}'],
    );
  });

  it('reads a body that is not an object only with JMESPath', async () => {
    await start(inPipe(header('X-J', '[1].a', 'replace', 'jmespath'), header('X-D', 'a')));
    const { seen } = await send('[1,{"a":2}]');
    deepEqual([seen.headers['x-j'], seen.headers['x-d']], ['2', undefined]);
  });

  it('applies operations in order, each to the result of the previous operations', async () => {
    await start(
      inPipe(
        ...[header('X-A', 'user.id'), header('X-A', 'auth', 'skip'), header('X-B', 'user.id'), header('X-B', 'auth')],
        ...[
          query('q', 'user.id', 'append'),
          query('q', 'auth', 'append'),
          query('r', 'auth'),
          query('r', 'user.id', 'skip'),
        ],
      ),
    );
    const { seen } = await send();
    deepEqual([valuesOf(seen, 'X-A'), valuesOf(seen, 'X-B'), seen.target], [['7'], ['k1'], '/b?q=7&q=k1&r=k1']);
  });

  it('treats an empty header as present', async () => {
    await start(inPipe(header('X-A', 'auth', 'skip')), { input_headers: ['X-A'] });
    deepEqual(valuesOf((await send(body, { 'x-a': '' })).seen, 'X-A'), ['']);
  });

  it('replaces all values of a header', async () => {
    await start(inPipe(header('X-A', 'auth')), { input_headers: ['X-A'] });
    const headers = { 'x-a': ['1', '2'] };
    deepEqual(valuesOf((await send(body, headers)).seen, 'X-A'), ['k1']);
  });

  it('canonicalizes header names', async () => {
    await start(inPipe(header('x-my-HEADER', 'auth')));
    deepEqual(valuesOf((await send()).seen, 'X-My-Header'), ['k1']);
  });

  it('encodes query values, and sends any text in headers', async () => {
    await start(inPipe(query('q', 'a'), header('X-A', 'a')));
    const { seen } = await send('{"a":"ü&x=1 2"}');
    equal(seen.target, '/b?q=%C3%BC%26x%3D1+2');
    equal(Buffer.from(String(seen.headers['x-a']), 'latin1').toString(), 'ü&x=1 2');
  });

  it('drops values with line breaks, with a warning', async () => {
    await start(inPipe(header('X-A', 'a'), query('q', 'a'), header('X-B', 'b'), header('X-C', 'c')));
    const { status, seen } = await send('{"a":"x\\r\\nX-Evil: 1","b":"\\u0000","c":"\\u0007"}');
    deepEqual([status, seen.target], [200, '/b']);
    deepEqual(
      ['x-a', 'x-b', 'x-c', 'x-evil'].map((name) => seen.headers[name]),
      [undefined, undefined, undefined, undefined],
    );
    ok(lines.some((line) => /WARNING.*operation 1: the value for X-A contains a control character/.test(line)));
  });

  it('drops values that are too long for a header or nested too deeply', async () => {
    await start(inPipe(header('X-A', 'a'), query('q', 'a'), header('X-B', 'deep'), header('X-C', 'c')));
    const deep = '['.repeat(20_000) + ']'.repeat(20_000);
    const { status, seen } = await send(`{"a":"${'x'.repeat(16 * 1024 + 1)}","deep":${deep},"c":"k1"}`);
    deepEqual(
      [status, seen.target, seen.headers['x-a'], seen.headers['x-b'], seen.headers['x-c']],
      [200, '/b', undefined, undefined, 'k1'],
    );
    ok(lines.some((line) => /WARNING.*operation 1: the value for X-A has more than 16384 characters/.test(line)));
  });

  it('warns about invalid client data at most once a second', async () => {
    await start(inPipe(header('X-A', 'a')));
    for (let count = 0; count < 5; count++) await send('{"a":"\\u0000"}');
    equal(lines.filter((line) => line.includes('control character')).length, 1);
  });

  it('skips an operation whose expression fails, with a warning', async () => {
    await start(inPipe(header('X-A', 'sum(user.tags)', 'replace', 'jmespath'), header('X-B', 'auth')));
    const { status, seen } = await send();
    deepEqual([status, seen.headers['x-a'], seen.headers['x-b']], [200, undefined, 'k1']);
    ok(lines.some((line) => /WARNING.*operation 1 is skipped: sum\(\) requires/.test(line)));
  });

  it('at the root runs for every endpoint before bot detection, and its values are subject to the forwarding lists', async () => {
    await start(
      {
        root: {
          [namespace]: { operations: [header('User-Agent', 'agent'), query('q', 'auth')] },
          'security/bot-detector': { deny: ['bot'], empty_user_agent_is_bot: false },
        },
      },
      { input_query_strings: ['q'] },
    );
    equal((await send('{"agent":"bot"}')).status, 403);
    const { status, seen } = await send(body, {}, '/a?x=1');
    deepEqual([status, seen.target], [200, '/b?q=k1']);
  });

  it('runs at the root first, then before authentication, then in the proxy before scripts', async () => {
    await start(
      {
        root: { [namespace]: { operations: [header('X-S', 'r')] } },
        endpoint: {
          [`${namespace}/early`]: { operations: [header('X-S', 'e', 'append')] },
          [namespace]: { operations: [header('X-S', 'p', 'append'), header('X-P', 'p')] },
          'modifier/lua-proxy': { pre: "local r = request.load(); r:headers('X-Seen', r:headers('X-P'))" },
          'validation/cel': [{ check_expr: "req_headers['X-S'][2] == 'pipe'" }],
        },
      },
      { input_headers: ['X-S'] },
    );
    const { status, seen } = await send('{"r":"root","e":"early","p":"pipe"}');
    deepEqual([status, valuesOf(seen, 'X-S'), seen.headers['x-seen']], [200, ['root', 'early', 'pipe'], 'pipe']);
  });

  it('drops headers of the client whose names are similar to the headers that it sets', async () => {
    await start(inPipe(header('X-User', 'auth')), { input_headers: ['*'] });
    const { seen } = await send(body, { x_user: 'evil' });
    deepEqual([seen.headers['x-user'], seen.headers['x_user']], ['k1', undefined]);
  });

  it('rejects an oversized body with 413', async () => {
    for (const components of [atRoot(header('X-A', 'a')), atOnce(header('X-A', 'a')), inPipe(header('X-A', 'a'))]) {
      await start({
        ...components,
        root: { ...('root' in components && components.root), router: { max_payload: 10 } },
      });
      const before = backend.requests.length;
      equal((await send()).status, 413);
      equal(backend.requests.length, before);
      await gateway!.close();
    }
  });

  it('treats __proto__ in a body like any other key', async () => {
    await start(
      inPipe(header('X-A', '__proto__.a'), header('X-B', 'constructor'), header('X-C', 'a', 'replace', 'jmespath')),
    );
    const { seen } = await send('{"__proto__":{"a":1.0}}');
    deepEqual([seen.headers['x-a'], seen.headers['x-b'], seen.headers['x-c']], ['1.0', undefined, undefined]);
  });

  const places = [
    [plugin, 'service'],
    [plugin, 'endpoint'],
    [early, 'endpoint'],
  ] as const;

  it('rejects operations with missing or invalid fields', async () => {
    const whole = header('X-A', 'a');
    for (const [at, level] of places) {
      for (const field of Object.keys(whole)) {
        const { [field as keyof typeof whole]: _dropped, ...rest } = whole;
        deepEqual(await faultsOf(at, level, { operations: [rest] }), [['SCHEMA_REQUIRED', `/operations/0`]]);
      }
      deepEqual(await faultsOf(at, level, { operations: [{ ...whole, type: 'cookie' }] }), [
        ['SCHEMA_ENUM', '/operations/0/type'],
      ]);
      deepEqual(await faultsOf(at, level, {}), [['SCHEMA_REQUIRED', '']]);
    }
  });

  it('rejects invalid expressions and reserved header names', async () => {
    for (const [at, level] of places) {
      deepEqual(await faultsOf(at, level, { operations: [header('X-A', 'a b', 'skip', 'jmespath')] }), [
        ['JMESPATH_SYNTAX', '/operations/0/expression'],
      ]);
      for (const name of ['Content-Length', 'transfer-encoding', 'Host', 'Connection', 'a b']) {
        deepEqual(await faultsOf(at, level, { operations: [header('X-A', 'a'), header(name, 'a')] }), [
          ['EXTRACTOR_HEADER', '/operations/1/target'],
        ]);
      }
    }
  });
});
