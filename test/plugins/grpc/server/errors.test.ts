import { deepEqual, equal, match } from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { until } from '../../../support/conditions.ts';
import { callUnary } from '../../../support/grpc/caller.ts';
import type { ShopClient } from '../../../support/grpc/server.ts';
import { find, Stage } from './fixture.ts';

describe('a call to a gRPC service of the gateway', () => {
  const stage = new Stage();
  before(() => stage.open());
  after(() => stage.close());
  afterEach(() => stage.end());

  const ask = (client: ShopClient, request: object = {}, deadline?: number) =>
    callUnary(client, 'Find', request, deadline === undefined ? {} : { deadline });
  const said = async (client: ShopClient, request?: object) => {
    const { code, details } = await ask(client, request);
    return [code, details];
  };

  it('fails with UNIMPLEMENTED for unpublished and streaming methods', async () => {
    const client = await stage.start([find(stage.http('/x'))]);
    deepEqual((await callUnary(client, 'Echo')).code, status.UNIMPLEMENTED);
    const stream = (client as unknown as { Watch(request: object): NodeJS.EventEmitter }).Watch({});
    const code = await new Promise((resolve) => {
      stream.on('data', () => {});
      stream.on('error', (error: { code: number }) => resolve(error.code));
    });
    equal(code, status.UNIMPLEMENTED);
  });

  it('fails with INTERNAL if its backends fail, without the reason', async () => {
    const client = await stage.start([find(stage.http('/status/500'))]);
    deepEqual(await said(client), [status.INTERNAL, 'internal']);
  });

  it('fails with the gRPC status for the HTTP status of its only backend', async () => {
    const codes: Record<number, number> = {};
    const methods = { payload_params: { name: 'code' }, ...find(stage.http('/status/{code}')) };
    const client = await stage.start([methods]);
    for (const http of [400, 401, 403, 404, 409, 413, 429, 500, 501, 503, 504]) {
      codes[http] = (await ask(client, { name: String(http) })).code;
    }
    deepEqual(codes, {
      400: status.INVALID_ARGUMENT,
      401: status.UNAUTHENTICATED,
      403: status.PERMISSION_DENIED,
      404: status.NOT_FOUND,
      409: status.ABORTED,
      413: status.INTERNAL,
      429: status.RESOURCE_EXHAUSTED,
      500: status.INTERNAL,
      501: status.INTERNAL,
      503: status.UNAVAILABLE,
      504: status.DEADLINE_EXCEEDED,
    });
  });

  it('fails with the gRPC status for the HTTP status of its only backend, even if return_error_code is set there', async () => {
    const extra_config = { 'backend/http': { return_error_code: true } };
    const client = await stage.start([find(stage.http('/status/404', { extra_config }))]);
    equal((await ask(client)).code, status.NOT_FOUND);
  });

  it('fails with INTERNAL if several backends fail, regardless of their statuses', async () => {
    const client = await stage.start([find(stage.http('/status/404'), stage.http('/status/404'))]);
    equal((await ask(client)).code, status.INTERNAL);
  });

  it('fails with the status and message of its only gRPC backend', async () => {
    const client = await stage.start([find(stage.grpc())]);
    deepEqual(await said(client, { name: 'none' }), [status.NOT_FOUND, 'no such thing']);
  });

  it('does not reveal the addresses of unreachable backends', async () => {
    const lost = { ...stage.grpc(), host: ['127.0.0.1:1'] };
    deepEqual(await said(await stage.start([find(lost)])), [status.UNAVAILABLE, 'unavailable']);
  });

  it('returns the reason if return_error_msg is set', async () => {
    const client = await stage.start([find(stage.http('/status/500'))], {
      extra_config: { router: { return_error_msg: true } },
    });
    const { code, details } = await ask(client);
    equal(code, status.INTERNAL);
    match(details, /invalid status code/i);
  });

  it('limits the length of the error message', async () => {
    const client = await stage.start([{ name: 'Echo', backend: [stage.http('/huge')] }], {
      extra_config: { router: { return_error_msg: true } },
    });
    const { code, details } = await callUnary(client, 'Echo');
    deepEqual([code, details.length], [status.INTERNAL, 1024]);
  });

  it('fails with DEADLINE_EXCEEDED after the endpoint timeout', async () => {
    const client = await stage.start([find(stage.http('/never'))], { timeout: '50ms' });
    equal((await ask(client)).code, status.DEADLINE_EXCEEDED);
  });

  it("fails at the client's deadline if that is earlier", async () => {
    const client = await stage.start([find(stage.grpc())], { timeout: '60s' });
    const requested = Date.now();
    equal((await ask(client, { name: 'never' }, requested + 3000)).code, status.DEADLINE_EXCEEDED);
    const { remainingMs } = stage.upstream.calls.at(-1)!;
    equal(remainingMs <= 3000, true);
    await until(() => stage.gateway.status.calls === 0);
  });

  it('fails with INTERNAL for data that does not match a field, and logs the field', async () => {
    const client = await stage.start([find(stage.http('/typed'))]);
    deepEqual(await said(client), [status.INTERNAL, 'internal']);
    match(stage.sinks.lines.join(''), /ERROR.*shop\.Res: n is not/);
  });

  it('is rejected by root rate limits with a gRPC status', async () => {
    const client = await stage.start([find(stage.http('/x'))], {
      extra_config: { 'qos/ratelimit/service': { max_rate: 1, capacity: 1, every: '10m' } },
    });
    const codes = [(await ask(client)).code, (await ask(client)).code];
    deepEqual(codes, [status.OK, status.UNAVAILABLE]);
  });
});
