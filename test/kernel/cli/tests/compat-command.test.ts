import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { freePort } from '../../../support/conditions.ts';
import { createFolder, type Ended, type Folder, sluice } from '../command.ts';
import { type Process, type Running, startCommand, startProcess } from '../running.ts';
import { type ProductConfig, startProduct } from './other-product.ts';

const env = { GATEWAY_ADMIN_LISTEN: 'off' };

interface Document {
  port?: number;
  host?: string[];
  extra_config?: object;
  endpoints: { endpoint: string; output_encoding?: string; backend: Record<string, unknown>[] }[];
}

const users = {
  endpoint: '/users/{id}',
  input_query_strings: ['page'],
  input_headers: ['X-Team'],
  backend: [{ url_pattern: '/v1/{id}', deny: ['password'] }],
};

const config = (...endpoints: object[]) => ({
  version: 3,
  // The time limit is raised, because the command waits for unresponsive backends.
  timeout: '1500ms',
  host: ['http://users:8000'],
  endpoints: endpoints.length > 0 ? endpoints : [users],
});

interface Change {
  readonly cause: string;
  readonly at: string;
}

describe('sluice compat', function () {
  this.timeout(60_000);

  let folder: Folder;
  const closing: (() => unknown)[] = [];
  beforeEach(() => {
    folder = createFolder();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    folder.remove();
  });

  const start = (port: number, file: string, ...args: string[]): Running => {
    const url = `http://127.0.0.1:${port}`;
    const other = folder.path('other.json');
    return startCommand(env, 'compat', file, '--against', url, '--write-config', other, '--seed', '1', ...args);
  };
  const ended = async (running: Running): Promise<Ended> => {
    const code = await running.ended;
    return { code, out: running.out, err: running.err };
  };

  /** Compares a configuration with a Sluice in another process. @param plant changes the configuration of that one. */
  const compare = async (document: object, plant: (other: Document) => void, ...args: string[]): Promise<Ended> => {
    const port = await freePort();
    const compat = start(port, folder.write('gateway.json', document), ...args);
    await compat.printed(/is the configuration for/);
    const other = JSON.parse(folder.read('other.json')) as Document;
    equal(other.port, port);
    plant(other);
    const gateway: Process = startProcess(env, 'run', '-c', folder.write('other.json', other));
    closing.push(() => gateway.stop());
    return ended(compat);
  };
  const changesOf = ({ out }: Ended) => {
    const { changes } = JSON.parse(out) as { changes: Change[] };
    return changes.map(({ cause, at }) => `${cause} ${at}`.trim());
  };

  it('exits 0 for two gateways with the same configuration', async () => {
    const post = {
      endpoint: '/orders',
      method: 'POST',
      backend: [{ url_pattern: '/orders' }, { url_pattern: '/audit', host: ['http://audit:9000'], group: 'audit' }],
      extra_config: {
        'validation/json-schema': { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
      },
    };
    const token = {
      endpoint: '/token',
      backend: [{ url_pattern: '/token', encoding: 'no-op' }],
      output_encoding: 'no-op',
      extra_config: { 'auth/validator': { alg: 'ES256', jwk_url: 'https://id.example.com/keys', roles: ['admin'] } },
    };
    const { code, out, err } = await compare(config(users, post, token), () => {});
    deepEqual(
      [code, out.replace(/\d+ requests compared in \d+ ms/, '… requests compared in … ms')],
      [0, '… requests compared in … ms with seed 1: 0 differences\n'],
    );
    match(err, /^http:\/\/users:8000 is mocked at http:\/\/127\.0\.0\.1:\d+$/m);
  });

  it('finds a field that the other gateway returns because its "deny" is missing', async () => {
    const result = await compare(config(), ({ endpoints: [first] }) => delete first!.backend[0]!['deny']);
    equal(result.code, 1);
    const [place, ...lines] = result.out.split('\n');
    match(place!, /^GET \/users\/\{id\} {2}.*gateway\.json:\d+:\d+$/);
    equal(lines[0], '  field is missing: password ("sample")');
    equal(lines[2], '    accept: GET /users/{id} missing password');
  });

  it('finds changed status codes, headers, backend paths and forwarded parameters', async () => {
    const raw = { endpoint: '/raw', output_encoding: 'no-op', backend: [{ url_pattern: '/raw', encoding: 'no-op' }] };
    const plant = ({ endpoints: [first, second] }: Document) => {
      Object.assign(first!, { input_query_strings: [], input_headers: ['X-Team', 'X-Unlisted'] });
      first!.backend[0]!['url_pattern'] = '/v2/{id}';
      const filter = { 'modifier/martian': { 'header.Modifier': { scope: ['response'], name: 'X-Gate', value: '1' } } };
      Object.assign(second!, { backend: [{ ...second!.backend[0], extra_config: filter }] });
    };
    const result = await compare(config(users, raw), plant, '--format', 'json');
    deepEqual(
      new Set(changesOf(result)),
      new Set([
        'call path of GET http://users:8000',
        'call parameter page of GET http://users:8000',
        'call header x-unlisted of GET http://users:8000',
        'call header referer of GET http://users:8000',
        'header x-gate',
      ]),
    );
  });

  it('accepts the differences of a file', async () => {
    const accept = folder.write('accept.txt', '# reviewed\nGET /users/{id} missing password\n');
    const plant = ({ endpoints: [first] }: Document) => delete first!.backend[0]!['deny'];
    const { code, out } = await compare(config(), plant, '--accept', accept);
    equal(code, 0, out);
    match(out, /^1 difference accepted$/m);
  });

  it('prints differences for CI as JUnit and as annotations of GitHub', async () => {
    const plant = ({ endpoints: [first] }: Document) => delete first!.backend[0]!['deny'];
    const { out: junit } = await compare(config(), plant, '--format', 'junit');
    match(junit, /<testcase name="GET \/users\/\{id\}"/);
    match(junit, /<failure message="field is missing: password/);
    const { out: github } = await compare(config(), plant, '--format', 'github');
    match(github, /^::error file=.*line=\d+.*COMPAT_DIFFERENCE::GET \/users\/\{id\}: field is missing: password/m);
  });

  it('takes requests and mocked backends from tests, recordings and OpenAPI documents', async () => {
    const tests = folder.write(
      'users.yaml',
      [
        'backends: { users: { url: "http://users:8000/v1/*", response: { body: { id: 5, password: x } } } }',
        'tests: [{ name: "a user", request: { path: /users/5 } }]',
      ].join('\n'),
    );
    const har = folder.write('traffic.har', {
      log: {
        entries: [{ request: { method: 'GET', url: 'https://api.test/users/6?page=2' }, response: { status: 200 } }],
      },
    });
    const openapi = folder.write('api.json', {
      openapi: '3.0.0',
      paths: {
        '/users/{id}': {
          get: {
            parameters: [
              { name: 'id', in: 'path', required: true, schema: { $ref: '#/components/schemas/Id' } },
              { name: 'page', in: 'query', example: 3 },
            ],
          },
        },
      },
      components: { schemas: { Id: { type: 'integer', minimum: 70, maximum: 79 } } },
    });
    const plant = ({ endpoints: [first] }: Document) => delete first!.backend[0]!['deny'];
    const sources = ['--tests', tests, '--har', har, '--openapi', openapi];
    const { out } = await compare(config(), plant, ...sources);
    match(out, /^ {2}field is missing: password \("\*\*\*"\)|^ {2}field is missing: password \("x"\)/m);
    match(out, /^ {4}3 requests, for example GET \/users\/5$/m);
    match(out, /^3 requests compared/m);
  });

  it('omits endpoints whose backends are not called over HTTP, and names them', async () => {
    const publisher = {
      endpoint: '/events',
      method: 'POST',
      backend: [
        {
          url_pattern: '/',
          extra_config: { 'backend/pubsub/publisher': { topic_url: 'events' } },
          host: ['kafka://'],
          disable_host_sanitize: true,
        },
      ],
    };
    const { out } = await compare(config(users, publisher), ({ endpoints }) => equal(endpoints.length, 1));
    match(out, /^not compared: POST \/events: backend 0 is not called over HTTP$/m);
  });

  describe('against a gateway that behaves as documented for KrakenD', () => {
    const withProduct = async (document: object, plant: (other: ProductConfig) => ProductConfig, ...args: string[]) => {
      const compat = start(await freePort(), folder.write('gateway.json', document), ...args);
      await compat.printed(/is the configuration for/);
      const product = await startProduct(plant(JSON.parse(folder.read('other.json'))));
      closing.push(() => product.close());
      return ended(compat);
    };

    it('lists intended differences apart, and exits 0', async () => {
      const { code, out } = await withProduct(config(), (other) => other);
      match(out, /^by design in \d+ requests: X-Krakend headers are named X-Gateway/m);
      match(out, /^by design in 3 requests: GET endpoints serve HEAD/m);
      match(out, /: 0 differences$/m);
      equal(code, 0, out);
    });

    it('finds a changed backend path', async () => {
      const plant = (other: ProductConfig): ProductConfig => ({
        ...other,
        endpoints: other.endpoints.map((each) => ({
          ...each,
          backend: [{ ...each.backend[0]!, url_pattern: '/v2/{id}' }],
        })),
      });
      const { code, out } = await withProduct(config(), plant, '--ignore-header', 'X-Krakend');
      equal(code, 1);
      match(out, /^ {2}backend request changed: header referer of GET/m);
      match(out, /^ {2}backend request changed: path of GET http:\/\/users:8000 \(\/v2\/101 → \/v1\/101\)$/m);
      match(out, /: 2 differences$/m);
    });
  });

  describe('against a gateway that misbehaves', () => {
    const serve = async (server: Server): Promise<number> => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closing.push(
        () =>
          new Promise((resolve) => {
            server.close(resolve);
            if ('closeAllConnections' in server) (server as ReturnType<typeof createServer>).closeAllConnections();
          }),
      );
      return (server.address() as AddressInfo).port;
    };
    const against = (port: number, ...args: string[]) =>
      ended(start(port, folder.write('gateway.json', config()), ...args));
    const http = (listener: RequestListener) =>
      serve(
        createServer((request, response) =>
          request.url === '/__health' ? response.end('{}') : listener(request, response),
        ),
      );

    it('exits 2 if it does not respond in time', async () => {
      const { code, err } = await against(await freePort(), '--wait', '300ms');
      equal(code, 2);
      match(err, /did not respond within 300 ms: connect ECONNREFUSED/);
    });

    it('exits 2 if it never ends its responses', async () => {
      const port = await http((_request, response) => void response.writeHead(200).write('{'));
      const { code, err } = await against(port, '--timeout', '200ms');
      equal(code, 2);
      match(err, /5 requests in a row had no valid response/);
    });

    it('exits 2 if its responses have no end', async () => {
      const chunk = Buffer.alloc(1024 * 1024);
      const port = await http((_request, response) => {
        const write = (): void => {
          while (!response.destroyed && response.write(chunk));
        };
        response.on('drain', write);
        write();
      });
      const { code, err } = await against(port);
      equal(code, 2);
      match(err, /the response exceeds 8 MiB/);
    });

    it('exits 2 if it does not speak HTTP', async () => {
      const port = await serve(
        createTcpServer((socket) =>
          socket
            .on('error', () => {})
            .resume()
            .end('220 smtp ready\r\n'),
        ),
      );
      const { code, err } = await against(port, '--wait', '300ms');
      equal(code, 2);
      match(err, /did not respond within 300 ms: Parse Error/);
    });

    it('ends when it is interrupted', async () => {
      const port = await http(() => {});
      const running = start(port, folder.write('gateway.json', config()), '--timeout', '30s');
      await running.printed(/is the configuration for/);
      running.kill('SIGINT');
      const { code, err } = await ended(running);
      equal(code, 130);
      match(err, /^interrupted$/m);
    });
  });

  describe('with arguments that are not valid', () => {
    const refused = async (...args: string[]) => {
      const { code, err } = await sluice('compat', folder.write('gateway.json', config()), ...args);
      equal(code, 2, err);
      return err;
    };

    it('exits 2', async () => {
      match(await refused(), /--against URL is required/);
      match(await refused('--write-config', folder.path('o.json')), /with a port is required without --against/);
      match(await refused('--against', 'ftp://x'), /not an HTTP address/);
      match(await refused('--against', 'http://127.0.0.1:1', '--backends', '127.0.0.1'), /not a host and port/);
      match(await refused('--against', 'http://127.0.0.1:1', '--wait', 'soon'), /not a time such as 30s/);
      match(await refused('--against', 'http://127.0.0.1:1', '-H', 'no'), /not a header/);
      match(await refused('--against', 'http://127.0.0.1:1', '--format', 'html'), /html/);
    });

    it('exits 1 for a configuration that is not valid', async () => {
      const file = folder.write('bad.json', { version: 3, endpoints: [{ endpoint: 'x' }] });
      const { code, err } = await sluice('compat', file, '--against', 'http://127.0.0.1:1');
      equal(code, 1);
      match(err, /ERROR parsing the configuration file/);
      doesNotMatch(err, /is mocked at/);
    });

    it('exits 1 if the mocked backends cannot be served', async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      closing.push(() => new Promise((resolve) => server.close(resolve)));
      const { port } = server.address() as AddressInfo;
      const file = folder.write('gateway.json', config());
      const { code, err } = await sluice(
        'compat',
        file,
        '--against',
        'http://127.0.0.1:1',
        '--backends',
        `127.0.0.1:${port}`,
      );
      ok(code === 1, err);
      match(err, /cannot serve mocked backends: listen EADDRINUSE/);
    });
  });
});
