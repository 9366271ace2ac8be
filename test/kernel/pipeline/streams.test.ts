import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import type { Gateway } from '../../../kernel/sluice.ts';
import { until } from '../../support/conditions.ts';
import { rememberingSinks, startGateway } from '../../support/gateway.ts';

describe('streamed bodies', () => {
  let server: Server;
  let url: string;
  let gateway: Gateway;
  let lines: string[];
  let received: (message: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    server = createServer((message, response) => received(message, response));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    mock.timers.reset();
    await gateway.close();
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });

  const open = async (endpoint: object, method = 'GET') => {
    const sinks = rememberingSinks();
    lines = sinks.lines;
    gateway = await startGateway(
      { host: [url], endpoints: [{ endpoint: '/x', timeout: '10s', method, ...endpoint }] },
      { sinks },
    );
    const { port } = await gateway.listen();
    return request({ port, host: '127.0.0.1', path: '/x', method, agent: false });
  };

  it('reach the client of a no-op endpoint before the backend has sent everything', async () => {
    let finish = (): void => {};
    received = (_message, response) => {
      response.write('first');
      finish = () => response.end('last');
    };
    const client = await open({ output_encoding: 'no-op', backend: [{ url_pattern: '/' }] });
    client.end();
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    const chunks = response[Symbol.asyncIterator]();
    equal(String((await chunks.next()).value), 'first');
    finish();
    equal(String((await chunks.next()).value), 'last');
    equal((await chunks.next()).done, true);
  });

  it('end the client connection if the backend disconnects in the middle, with a log line', async () => {
    let breakOff = (): void => {};
    received = (_message, response) => {
      response.write('first');
      breakOff = () => response.destroy();
    };
    const client = await open({ output_encoding: 'no-op', backend: [{ url_pattern: '/' }] });
    client.end();
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    await once(response, 'data');
    breakOff();
    const [error] = await once(response, 'error');
    equal((error as NodeJS.ErrnoException).code, 'ECONNRESET');
    await until(() => lines.some((line) => line.includes('ERROR: [ENDPOINT: /x] response ended early')));
  });

  it("are subject to the backend's timeout even after the response has begun", async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    received = (_message, response) => response.write('first');
    const client = await open({ output_encoding: 'no-op', backend: [{ url_pattern: '/', timeout: '5s' }] });
    client.end();
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    await once(response, 'data');
    const broken = once(response, 'error');
    mock.timers.tick(5000);
    await broken;
  });

  it('fail the call if the backend disconnects in the middle of a body that must be decoded', async () => {
    received = (_message, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('{"a":', () => response.destroy());
    };
    const client = await open({ backend: [{ url_pattern: '/' }] });
    client.end();
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    equal(response.statusCode, 500);
    ok(lines.some((line) => line.includes('ERROR: [ENDPOINT: /x] backend')));
  });

  it('of requests reach a single backend as they arrive, with any method', async () => {
    const seen: string[] = [];
    let headers: IncomingMessage['headers'] = {};
    let method: string | undefined;
    received = (message, response) => {
      ({ headers, method } = message);
      message.on('data', (chunk) => seen.push(String(chunk)));
      message.on('end', () => response.end('{}'));
    };
    const client = await open({ backend: [{ url_pattern: '/', method: 'PUT' }] }, 'POST');
    client.setHeader('Content-Type', 'text/x');
    client.write('one');
    await until(() => seen.length === 1);
    client.end('two');
    await once(client, 'response');
    deepEqual(seen, ['one', 'two']);
    deepEqual([method, headers['transfer-encoding'], headers['content-type']], ['PUT', 'chunked', 'text/x']);
  });

  it('of requests are buffered for several backends and sent with their length', async () => {
    const seen: [string, string | undefined][] = [];
    received = async (message, response) => {
      let body = '';
      for await (const chunk of message) body += chunk;
      seen.push([body, message.headers['content-length']]);
      response.end('{}');
    };
    const client = await open(
      { backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }, { url_pattern: '/3' }] },
      'POST',
    );
    client.write('one');
    client.end('two');
    await once(client, 'response');
    deepEqual(seen, [
      ['onetwo', '6'],
      ['onetwo', '6'],
      ['onetwo', '6'],
    ]);
  });

  it('of requests are rejected when they exceed the limit', async () => {
    received = (message, response) => {
      message.resume().on('end', () => response.end('{}'));
    };
    const client = await open(
      { backend: [{ url_pattern: '/1' }, { url_pattern: '/2' }], extra_config: { proxy: { max_payload: 4 } } },
      'POST',
    );
    client.on('error', () => {});
    client.write('123');
    client.write('45');
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    equal(response.statusCode, 413);
    client.destroy();
  });

  it('are sent with all values of a repeated header, in order', async () => {
    let values: string[] = [];
    received = ({ rawHeaders }, response) => {
      values = rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1] === 'X-Many');
      response.end('{}');
    };
    const client = await open({ input_headers: ['x-many'], backend: [{ url_pattern: '/' }] });
    client.setHeader('X-MANY', ['one', 'two']);
    client.end();
    await once(client, 'response');
    deepEqual(values, ['one', 'two']);
  });

  for (const listed of ['User-Agent', '*']) {
    it(`are sent with the gateway's User-Agent if the client has none, with input_headers ${listed}`, async () => {
      let headers: IncomingMessage['headers'] = {};
      received = (message, response) => {
        ({ headers } = message);
        response.end('{}');
      };
      const client = await open({ input_headers: [listed], backend: [{ url_pattern: '/' }] });
      client.end();
      await once(client, 'response');
      ok(headers['user-agent']?.startsWith('Sluice Version '));
      equal(headers['x-forwarded-via'], undefined);
    });
  }
});
