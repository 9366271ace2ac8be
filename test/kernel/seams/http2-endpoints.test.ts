import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import {
  atService,
  type DataObject,
  definePlugin,
  endpointPipeSchema,
  HeaderBag,
  type Plugin,
  Reply,
  refuse,
} from '#contract';
import type { Operations } from '#kernel';
import type { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

const schema = {
  type: 'object',
  properties: {
    tasks: {
      type: 'array',
      description: 'Tasks.',
      items: endpointPipeSchema(
        {
          name: { type: 'string', description: 'Its name.' },
          fields: { type: 'object', values: { type: 'string' }, description: 'Parameters.', default: {} },
        },
        { description: 'One.', components: [], params: 'fields' },
      ),
      default: [],
    },
  },
} as const;

/** A protocol over HTTP/2 whose responses are texts that end with a trailer. */
const speaking = (name: string): Plugin =>
  definePlugin({
    name,
    description: 'Tasks over HTTP/2.',
    places: [
      atService(schema, (site) => ({
        http2: {
          contentType: 'application/task',
          endpoints: site.config.tasks.map((task, at) => ({
            at: `/tasks/${at}`,
            endpoint: {
              ...(task as unknown as { backend: never; extra_config: Readonly<DataObject> }),
              endpoint: `/tasks/${(task as unknown as { name: string }).name}`,
              method: 'POST',
              input_headers: ['X-My'],
              input_query_strings: [],
              output_encoding: 'json',
              concurrent_calls: 1,
              timeout: site.setting('timeout'),
              cache_ttl: 0,
            },
            outer: () => (next) => async (request, call) => {
              const { data, errors } = await next(request, call);
              const reply = Reply.raw(200, new HeaderBag(), Buffer.from(JSON.stringify(data)));
              reply.trailers = new HeaderBag(['task-errors', String(errors.length), 'x-gateway', 'mine']);
              reply.outcome = errors.length > 0 ? 500 : 200;
              return reply;
            },
            inner: () => (next) => (request, call) => next(request.with({ params: { Word: 'hey' } }), call),
          })),
          otherwise: () => refuse(404),
        },
      })),
    ],
  });

describe('HTTP/2 endpoints of a component', () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;
  let session: ClientHttp2Session | undefined;
  before(async () => {
    backend = await startBackend((seen, response) =>
      seen.target === '/broken' ? json({}, 500)(seen, response) : json({ asked: seen.target })(seen, response),
    );
  });
  after(() => backend.close());
  afterEach(async () => {
    session?.destroy();
    await gateway?.close();
    gateway = undefined;
  });

  const task = (name: string, pattern: string) => ({
    name,
    fields: { any: 'word' },
    backend: [{ host: [backend.url], url_pattern: pattern }],
  });
  const start = async (config: object = {}) => {
    const tasks = [task('one', '/a/{word}'), task('two', '/broken')];
    gateway = await startWith([speaking('test/tasks')], { extra_config: { 'test/tasks': { tasks } }, ...config });
    const { port } = await gateway.listen();
    session = connect(`http://127.0.0.1:${port}`).on('error', () => {});
    return port;
  };
  const ask = async (path: string, type = 'application/task', headers: object = {}) => {
    const stream = session!.request({ ':method': 'POST', ':path': path, 'content-type': type, ...headers });
    let trailers: IncomingHttpHeaders = {};
    stream.on('trailers', (given) => {
      trailers = given;
    });
    stream.end();
    const [{ ':status': status }] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
    return { status, body: await text(stream), trailers };
  };

  it('run pipelines with their own hooks', async () => {
    await start();
    const { status, body, trailers } = await ask('/tasks/one', 'application/task', { 'x-my': '1', 'x-other': '2' });
    deepEqual([status, body], [200, '{"asked":"/a/hey"}']);
    deepEqual([trailers['task-errors'], trailers['x-gateway']], ['0', 'mine']);
    const { headers } = backend.requests.at(-1)!;
    deepEqual([headers['x-my'], headers['x-other']], ['1', undefined]);
  });

  it('count the outcome of their call, not the HTTP status', async () => {
    await start();
    await ask('/tasks/two');
    const { routes } = gateway!.serving.compiled.http2!;
    equal(routes.get('/tasks/two')!.traffic.errors, 1);
  });

  it('are reached only with their content type, and do not affect other endpoints', async () => {
    const endpoint = {
      endpoint: '/tasks/{name}',
      method: 'POST',
      backend: [{ host: [backend.url], url_pattern: '/plain' }],
    };
    const port = await start({ use_h2c: true, endpoints: [endpoint] });
    equal((await ask('/tasks/one')).body, '{"asked":"/a/hey"}');
    equal((await ask('/tasks/one', 'application/json')).body, '{"asked":"/plain"}');
    equal((await ask('/else')).status, 404);
    const plain = await fetch(`http://127.0.0.1:${port}/tasks/one`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/task' },
    });
    equal(await plain.text(), '{"asked":"/plain"}');
  });

  it('reject other content types on a port without other HTTP/2 endpoints', async () => {
    const port = await start();
    equal((await ask('/tasks/one', 'application/json')).status, 415);
    const plain = await fetch(`http://127.0.0.1:${port}/__health`);
    equal(plain.status, 200);
    await plain.text();
  });

  it('are added and removed with the configuration, and their connections are closed', async () => {
    await start();
    await ask('/tasks/one');
    const ended = once(session!, 'close');
    await gateway!.reload({ version: 3 } as never);
    await ended;
  });

  it('are rejected if an ordinary endpoint has the same method and path', async () => {
    const backends = [{ host: [backend.url], url_pattern: '/plain' }];
    const endpoints = ['GET', 'POST'].map((method) => ({ endpoint: '/tasks/one', method, backend: backends }));
    const errors = await start({ endpoints }).then(
      () => [],
      (error: ConfigErrors) => error.errors.map(({ code, pointer, related }) => [code, pointer, ...related]),
    );
    deepEqual(errors, [['ROUTE_COLLISION', '/endpoints/1/endpoint', '/extra_config/test~1tasks/tasks/0']]);
  });

  it('can belong to only one component', async () => {
    const tasks = { tasks: [] };
    const both = startWith([speaking('test/tasks'), speaking('test/others')], {
      extra_config: { 'test/tasks': tasks, 'test/others': tasks },
    });
    const errors = await both.then(
      () => [],
      (error: ConfigErrors) => error.errors.map(({ code }) => code),
    );
    deepEqual(errors, ['PLUGINS_CONFLICT']);
  });
});
