import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict';
import { after as afterwards, type ClientRequest, HeaderBag, Reply } from '#contract';
import type { Operations } from '#kernel';
import { rememberingSinks } from '../../support/gateway.ts';
import { startModules } from '../../support/modules.ts';
import { startPlugged, startWith } from '../../support/plugged.ts';
import { containedConfig, filePlugin, type Hooks } from '../containment/support.ts';

const FORGED = 'a\r\nSet-Cookie: b=c';
const answers = { proxy: { static: { strategy: 'always', data: { a: 1 } } } };
const backend = [{ url_pattern: '/', host: ['http://127.0.0.1:1'] }];

/** An endpoint with these components that responds without a backend. */
const endpoint = (components: object) => ({ endpoint: '/a', extra_config: { ...answers, ...components }, backend });

describe('a header value set by a component', () => {
  let gateway: Operations;
  let sinks: ReturnType<typeof rememberingSinks>;
  beforeEach(() => {
    sinks = rememberingSinks();
  });
  afterEach(() => gateway.close());

  const ask = async () => {
    const { statusCode, headers } = await gateway.inject('/a');
    equal(headers['set-cookie'], undefined);
    return { status: statusCode, headers, log: sinks.lines.join('') };
  };

  it('with a line break fails the request; the error names the plugin and its line', async () => {
    const hooks: Hooks = {
      endpoint: { endpoint: afterwards<ClientRequest>((reply) => reply.headers.set('X-A', FORGED)) },
    };
    const config = containedConfig('http://127.0.0.1:1', hooks, { endpoint: { ...endpoint({ 'acme/test': {} }) } });
    gateway = await startWith([filePlugin(import.meta.url, hooks)], config, { sinks });
    const { status, log } = await ask();
    equal(status, 500);
    match(log, /acme\/test.*the value of header X-A contains control characters.*header-values\.test\.ts:\d+:\d+/);
    doesNotMatch(log, /ERR_INVALID_CHAR|writeHead/);
  });

  it('with a line break fails the request; the error names the module', async () => {
    const module = {
      name: 'forger',
      httpServer: () => async (_request: unknown, next: () => Promise<Response>) => {
        const response = (await next()) as unknown as { headers: Record<string, unknown> };
        return { status: 200, headers: { 'X-A': FORGED }, body: String(response) };
      },
    };
    const extra_config = { 'plugin/http-server': { name: ['forger'] } };
    gateway = await startModules({ endpoints: [endpoint({})], extra_config }, [module], { sinks });
    const { status, log } = await ask();
    equal(status, 500);
    match(log, /forger/);
    doesNotMatch(log, /ERR_INVALID_CHAR|writeHead/);
  });

  it('with a line break fails the request; the error names the script', async () => {
    const lua = { post: "local r = response.load() r:headers('X-A', 'a\\r\\nSet-Cookie: b=c')" };
    gateway = await startPlugged({ endpoints: [endpoint({ 'modifier/lua-proxy': lua })] }, {}, { sinks });
    const { status, log } = await ask();
    equal(status, 500);
    match(log, /\[ENDPOINT: \/a\] the value of a header must not contain line breaks.*\(post-script:L1\)/);
    doesNotMatch(log, /ERR_INVALID_CHAR|\n\s+at /);
  });

  it('with a line break fails in the Koa middleware that sets it', async () => {
    const middleware = async (context: unknown, next: () => Promise<unknown>): Promise<void> => {
      await next();
      (context as { set(name: string, value: string): void }).set('X-A', FORGED);
    };
    gateway = await startPlugged(
      { endpoints: [endpoint({})], extra_config: { test: {} } },
      { service: { middleware, readsReply: true } },
      { sinks },
    );
    const { status, log } = await ask();
    equal(status, 500);
    match(log, /X-A/);
  });

  for (const [what, reply] of [
    ['a header list of its own', () => new Reply(200, new HeaderBag(['X-A', FORGED]))],
    [
      'the list of another reply',
      () => {
        const reply = new Reply(200);
        reply.headers.list.push('X-A', FORGED);
        return reply;
      },
    ],
  ] as const) {
    it(`with a line break in ${what} is named in the log, without a stack`, async () => {
      const answering = { endpoint: () => () => reply() };
      gateway = await startPlugged(
        { endpoints: [endpoint({ test: { act: 'answering' } })] },
        { endpoint: { answering } },
        { sinks },
      );
      const { status, log } = await ask();
      equal(status, 500);
      match(log, /\[ENDPOINT: \/a\] response failed: Invalid character in header content \["X-A"\]/);
      doesNotMatch(log, /\n\s+at /);
    });
  }

  it('beyond Latin-1 is written in UTF-8', async () => {
    const named = { endpoint: afterwards<ClientRequest>((reply) => reply.headers.set('X-A', 'Łódź')) };
    gateway = await startPlugged({ endpoints: [endpoint({ test: { act: 'named' } })] }, { endpoint: { named } });
    const { status, headers } = await ask();
    deepEqual([status, Buffer.from(headers['x-a'] as string, 'latin1').toString()], [200, 'Łódź']);
  });
});
