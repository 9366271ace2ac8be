import { deepEqual, equal } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "lambda"', () => {
  let stub: TestBackend;
  let gateway: Operations;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env;

  before(async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'a';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'b';
    stub = await startBackend(json({ total: 3 }));
    const text = readFileSync('samples/lambda/gateway.json', 'utf8');
    gateway = await startGateway(JSON.parse(text.replaceAll('http://127.0.0.1:8081', stub.url)));
  });
  after(async () => {
    await gateway.close();
    await stub.close();
    for (const [name, value] of Object.entries({ AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/lambda/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('invokes a function with the variables of the path', async () => {
    deepEqual((await gateway.inject('/orders/7')).json(), { order: { total: 3 } });
    const { target, body } = stub.requests.at(-1)!;
    deepEqual([target, String(body)], ['/2015-03-31/functions/orders/invocations', '{"id":"7"}']);
  });

  it('invokes the function named in the path with the body', async () => {
    equal((await gateway.inject({ url: '/call/report', method: 'POST', payload: { a: 1 } })).statusCode, 200);
    const { target, body } = stub.requests.at(-1)!;
    deepEqual([target, String(body)], ['/2015-03-31/functions/report/invocations', '{"a":1}']);
  });
});
