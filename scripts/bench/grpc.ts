import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer as createHttp, request as requestHttp } from 'node:http';
import { type ClientHttp2Session, connect, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { type Configuration, createGateway } from '../../kernel/sluice.ts';
import { silentSinks } from '../../kernel/testing/index.ts';

/**
 * CPU time per call, in microseconds: of the gateway as a gRPC server and as a gRPC client, and of minimal programs with
 * @grpc/grpc-js that do the same. Each subject is a separate process; clients and backends, which are as cheap as
 * possible, run in this one.
 *
 *     node scripts/bench/grpc.ts [calls]
 */
const CATALOG = 'samples/grpc/orders.pb';
const IN_FLIGHT = 50;
const calls = Number(process.argv[2] ?? 40_000);

/** Programs that are measured, with the protocol of the calls that each one receives. */
const subjects = {
  'serves  grpc-js, answers by itself': { asks: 'grpc', start: serveBare },
  'serves  grpc-js, asks HTTP': { asks: 'grpc', start: serveOverHttp },
  'serves  sluice, asks HTTP': {
    asks: 'grpc',
    start: (at: Backends) => gateway(published({ host: [at.http], url_pattern: '/orders' })),
  },
  'passes  grpc-js, asks gRPC': { asks: 'grpc', start: proxyBare },
  'passes  sluice, asks gRPC, as it is': { asks: 'grpc', start: (at: Backends) => gateway(published(grpcBackend(at))) },
  'passes  sluice, asks gRPC, decoded': {
    asks: 'grpc',
    start: (at: Backends) => gateway(published({ ...grpcBackend(at), deny: ['nothing'] })),
  },
  'calls   node:http and grpc-js': { asks: 'http', start: callBare },
  'calls   sluice, backend/grpc': {
    asks: 'http',
    start: (at: Backends) => gateway({ endpoints: [endpoint(grpcBackend(at))] }),
  },
  'calls   sluice, plain HTTP': {
    asks: 'http',
    start: (at: Backends) =>
      gateway({ endpoints: [endpoint({ host: [at.http], url_pattern: '/orders', deny: ['nothing'] })] }),
  },
  'calls   sluice, backend/soap': {
    asks: 'http',
    start: (at: Backends) =>
      gateway({
        endpoints: [
          endpoint({
            host: [at.http],
            url_pattern: '/soap',
            method: 'POST',
            encoding: 'xml',
            extra_config: { 'backend/soap': { template: SOAP } },
          }),
        ],
      }),
  },
} as const;

type Subject = keyof typeof subjects;

/** Addresses of the backends. */
interface Backends {
  readonly http: string;
  readonly grpc: string;
}

const order = { id: '7', state: 1, total_cents: 1250, items: ['a', 'b'] };
const SOAP = Buffer.from(
  '<?xml version="1.0"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body><Get><Id>{{ .req_params.Id | xmlEscape }}</Id></Get></soap:Body></soap:Envelope>',
).toString('base64');
const SOAP_REPLY =
  '<soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"><soap:Body><Order><id>7</id><state>1</state><total>1250</total></Order></soap:Body></soap:Envelope>';
/** Frames of the request message, `id: "7"`, and of the order that is the response. */
const REQUEST = Buffer.from([0, 0, 0, 0, 3, 10, 1, 0x37]);
const REPLY = Buffer.from([0, 0, 0, 0, 14, 10, 1, 0x37, 16, 1, 24, 0xe2, 9, 34, 1, 97, 34, 1, 98]);

if (process.send) {
  const port = await subjects[process.argv[2] as Subject].start(JSON.parse(process.argv[3]!));
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send!(user + system);
  });
  process.send(port);
} else {
  await measureAll();
}

function grpcBackend({ grpc }: Backends) {
  return {
    host: [grpc],
    url_pattern: '/orders.Orders/Get',
    extra_config: { 'backend/grpc': { use_request_body: true } },
  };
}

function endpoint(backend: object) {
  return { endpoint: '/orders/{id}', backend: [backend] };
}

function published(backend: object) {
  const services = [{ name: 'orders.Orders', methods: [{ name: 'Get', backend: [backend] }] }];
  return { extra_config: { grpc: { catalog: [CATALOG], server: { services } } } };
}

async function gateway({ extra_config, ...config }: { extra_config?: object; endpoints?: object[] }): Promise<number> {
  const components = { grpc: { catalog: [CATALOG] }, ...extra_config };
  const running = await createGateway({ version: 3, ...config, extra_config: components } as Configuration, {
    port: 0,
    sinks: silentSinks,
  });
  return (await running.listen()).port;
}

type Answer = (error: Error | null, value?: object) => void;

function orders() {
  const definition = loadFileDescriptorSetFromBuffer(readFileSync(CATALOG), { keepCase: true, longs: Number });
  return (loadPackageDefinition(definition)['orders'] as never as { Orders: new (...given: unknown[]) => Caller })
    .Orders as unknown as (new (host: string, secure: unknown) => Caller) & { service: ServiceDefinition };
}

interface Caller {
  Get(request: object, answer: Answer): void;
}

async function listenGrpc(Get: (call: { request: { id: string } }, answer: Answer) => void): Promise<number> {
  const server = new Server();
  server.addService(orders().service, { Get } as never);
  return new Promise((resolve) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (_error, port) => resolve(port));
  });
}

function serveBare(): Promise<number> {
  return listenGrpc((_call, answer) => answer(null, order));
}

function serveOverHttp({ http }: Backends): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  return listenGrpc((_call, answer) => {
    requestHttp(`${http}/orders`, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => answer(null, JSON.parse(text)));
    }).end();
  });
}

function proxyBare({ grpc }: Backends): Promise<number> {
  const client = new (orders())(grpc, credentials.createInsecure());
  return listenGrpc(({ request }, answer) => client.Get(request, answer));
}

async function callBare({ grpc }: Backends): Promise<number> {
  const client = new (orders())(grpc, credentials.createInsecure());
  const server = createHttp((message, response) => {
    client.Get({ id: message.url!.split('/')[2] }, (_error, value) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function measureAll(): Promise<void> {
  const http = createHttp((message, response) => {
    message.resume();
    const isSoap = message.url === '/soap';
    response.writeHead(200, { 'Content-Type': isSoap ? 'text/xml' : 'application/json' });
    response.end(isSoap ? SOAP_REPLY : JSON.stringify(order));
  }).listen(0, '127.0.0.1');
  const grpc = createServer();
  grpc.on('stream', (stream) => {
    stream.on('error', () => {});
    stream.resume();
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(REPLY);
  });
  grpc.listen(0, '127.0.0.1');
  await Promise.all([once(http, 'listening'), once(grpc, 'listening')]);
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;
  const backends: Backends = { http: `http://127.0.0.1:${portOf(http)}`, grpc: `127.0.0.1:${portOf(grpc)}` };
  for (const subject of Object.keys(subjects) as Subject[]) await measureOne(subject, backends);
  process.exit();
}

async function measureOne(subject: Subject, backends: Backends): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), [subject, JSON.stringify(backends)]);
  const [port] = (await once(child, 'message')) as [number];
  const usage = async (): Promise<number> => {
    child.send('usage');
    return (await once(child, 'message'))[0];
  };
  const ask = subjects[subject].asks === 'grpc' ? askGrpc(port) : askHttp(port);
  await asMany(ask, Math.max(calls / 4, 5000));
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const before = await usage();
    await asMany(ask, calls / 3);
    least = Math.min(least, (await usage()) - before);
  }
  console.log(`${subject.padEnd(38)} ${(least / (calls / 3)).toFixed(1)} us of CPU a call`);
  child.kill();
  await once(child, 'exit');
}

/** @throws when a call does not succeed. */
type Ask = () => Promise<void>;

function askGrpc(port: number): Ask {
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${port}`).on('error', () => {});
  const headers = {
    ':method': 'POST',
    ':path': '/orders.Orders/Get',
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-timeout': '5S',
  };
  return () =>
    new Promise((resolve, reject) => {
      const stream = session.request(headers);
      let status: unknown;
      stream.on('trailers', (trailers) => {
        status = trailers['grpc-status'];
      });
      stream.on('error', reject);
      stream.on('close', () => (status === '0' ? resolve() : reject(new Error(`grpc-status ${status}`))));
      stream.resume();
      stream.end(REQUEST);
    });
}

function askHttp(port: number): Ask {
  const agent = new Agent({ keepAlive: true });
  return () =>
    new Promise((resolve, reject) => {
      requestHttp({ port, host: '127.0.0.1', path: '/orders/7', agent }, (response) => {
        response.resume();
        response.on('end', () =>
          response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
        );
      })
        .on('error', reject)
        .end();
    });
}

async function asMany(ask: Ask, count: number): Promise<void> {
  let left = count;
  const one = async (): Promise<void> => {
    while (left-- > 0) await ask();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, one));
}
