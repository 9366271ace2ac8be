import { match } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { startGateway } from '../../support/gateway.ts';

describe('a request that arrives just before the port closes', () => {
  for (const use_h2c of [false, true]) {
    it(`is answered${use_h2c ? ', even if the protocol of the connection is not known yet' : ''}`, async () => {
      const gateway = await startGateway({ use_h2c, listen_ip: '127.0.0.1', endpoints: [] });
      const { port } = await gateway.listen();
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      // Waits until the server has accepted the connection, which takes some turns of the event loop.
      for (let turn = 0; turn < 10; turn++) await setImmediate();
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk;
      });
      // Sends the request before the gateway is closed, so that its bytes are already in the server's receive buffer.
      socket.write('GET /__health HTTP/1.1\r\nHost: a\r\n\r\n');
      const closed = gateway.close();
      await once(socket, 'close');
      match(received, /^HTTP\/1\.1 200 OK\r\n/);
      await closed;
    });
  }
});
