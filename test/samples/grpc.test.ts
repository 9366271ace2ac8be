import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { startBackend, startGateway, type TestBackend } from '../support/gateway.ts';
import { callUnary } from '../support/grpc/caller.ts';
import { clientOf, failure, startService, status, type TestGrpcServer } from '../support/grpc/server.ts';
import { followGuide } from './guide.ts';

describe('the sample "grpc"', () => {
  let server: TestGrpcServer;
  let gateway: Operations;
  let rest: TestBackend;

  before(async () => {
    server = await startService('samples/grpc/orders.pb', 'orders', 'Orders', {
      Get: (call, answer) => {
        const { id } = call.request as { id: string };
        if (id === '404') answer(failure(status.NOT_FOUND, 'no such order'));
        else answer(null, { id, state: 1, total_cents: '1250' });
      },
      Watch: (call) => {
        for (const state of [0, 1]) call.write({ id: '7', state });
        call.end();
      },
    });
    const config = JSON.parse(readFileSync('samples/grpc/gateway.json', 'utf8'));
    rest = await startBackend(({ target }, response) => {
      const isThere = target === '/orders/7';
      response.writeHead(isThere ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ id: '7', state: 'SENT', total: 1250 }));
    });
    config.extra_config.grpc.server.services[0].methods[0].backend[0].host = [rest.url];
    gateway = await startGateway({ ...config, host: [server.host] });
  });
  after(async () => {
    await gateway.close();
    await server.close();
    await rest.close();
  });

  it('has a guide whose commands print the output that it shows', () =>
    followGuide('grpc', { ports: { 50051: Number(server.host.split(':').at(-1)) } }));

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/grpc/gateway.json');
    deepEqual([code, err], [0, '']);
    const tested = await sluice('check', '-t', '-c', 'samples/grpc/gateway.json');
    deepEqual([tested.code, tested.err], [0, '']);
  });

  it('calls a method with values from path, query and headers', async () => {
    const response = await gateway.inject({ url: '/orders/7?country=de', headers: { 'X-Tenant': 'shop' } });
    deepEqual(response.json(), { id: '7', state: 'PAID', total_cents: 1250, items: [] });
    const { request, metadata } = server.calls.at(-1)!;
    deepEqual([request, metadata['tenant']], [{ id: '7', customer: { country: 'de' } }, 'shop']);
  });

  it('converts a gRPC status into an HTTP status', async () => {
    equal((await gateway.inject('/orders/404')).statusCode, 404);
  });

  it('publishes a gRPC method whose backend is a REST service', async () => {
    const { port } = await gateway.listen();
    const client = clientOf('samples/grpc/orders.pb', 'orders', 'Orders', `127.0.0.1:${port}`);
    const { value } = await callUnary(client, 'Get', { id: '7' });
    deepEqual(value, { id: '7', state: 2, total_cents: '1250' });
    equal((await callUnary(client, 'Get', { id: '8' })).code, status.NOT_FOUND);
    client.close();
  });

  it('returns the messages of a stream as events', async () => {
    const { body } = await gateway.inject('/orders/7/changes');
    equal(body, 'data: {"id":"7"}\n\ndata: {"id":"7","state":"PAID"}\n\n');
  });
});
