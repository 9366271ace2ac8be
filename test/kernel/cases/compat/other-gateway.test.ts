import { equal, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OtherGateway } from '../../../../kernel/cases/index.ts';

describe('the other gateway of a comparison', () => {
  let server: Server;
  let respond: RequestListener;
  let gateway: OtherGateway;

  beforeEach(async () => {
    server = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    gateway = new OtherGateway(address, 10_000, new AbortController().signal);
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const send = () => gateway.send({ method: 'GET', path: '/stream', headers: {}, body: null });

  it('can interrupt every response, as gateways do with streams that are not valid', async () => {
    respond = (_request, response) => response.write('half', () => response.destroy());
    for (let count = 0; count < 12; count++) equal((await send()).status, 0);
  });

  it('ends the comparison if it does not respond to five requests in a row', async () => {
    respond = (_request, response) => response.destroy();
    for (let count = 0; count < 4; count++) equal((await send()).status, 0);
    await rejects(send(), /5 requests in a row had no valid response/);
  });
});
