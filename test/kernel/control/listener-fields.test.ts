import { deepEqual, equal } from 'node:assert/strict';
import { freePort } from '../../support/conditions.ts';
import { startGateway } from '../../support/gateway.ts';

/** Values of the root fields that the port uses: small, large, out of bounds, of another type. */
const counts = [0, 1, 16_384, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 5e9, 2 ** 53, -1, 1.5, '1', null];
const times = ['0s', '1ns', '1ms', '10000h', '-1s', '1', 5, null];
const fields: Readonly<Record<string, readonly unknown[]>> = {
  max_header_bytes: counts,
  max_connections: counts,
  max_requests_per_connection: counts,
  read_timeout: times,
  read_header_timeout: times,
  write_timeout: times,
  idle_timeout: times,
  max_shutdown_wait_time: times,
  use_h2c: [true, false, 'yes', null],
  listen_ip: ['127.0.0.1', '::1', '', '256.0.0.1', 'no such host', 5],
  tls: [
    {},
    { keys: [] },
    { keys: [{ public_key: 'missing.pem', private_key: 'missing.pem' }] },
    { min_version: 'x' },
    5,
  ],
};

describe('a change of a root field that the port uses', function () {
  this.timeout(60_000);

  for (const use_h2c of [false, true]) {
    for (const [field, values] of Object.entries(fields)) {
      it(`is either applied or rejected completely: ${field}${use_h2c ? ', with HTTP/2' : ''}`, async () => {
        const config = (path: string, more: object = {}) => ({
          version: 3,
          port,
          listen_ip: '127.0.0.1',
          use_h2c,
          debug_endpoint: true,
          host: ['http://127.0.0.1:1'],
          endpoints: [{ endpoint: path, backend: [{ url_pattern: '/' }] }],
          ...more,
        });
        const port = await freePort();
        const gateway = await startGateway(config('/old'));
        try {
          await gateway.listen();
          const status = async (url: string) => (await gateway.inject({ url })).statusCode;
          const seen = async () => [(await status('/old')) === 404, (await status('/new')) === 404];
          for (const value of values) {
            const before = gateway.status.revision;
            const outcome = await gateway.reload(config('/new', { [field]: value })).then(
              () => 'served',
              () => 'refused',
            );
            const isServed = outcome === 'served';
            deepEqual(
              [outcome, ...(await seen())],
              [outcome, isServed, !isServed],
              `${field}: ${JSON.stringify(value)}`,
            );
            equal(gateway.status.revision !== before, isServed);
            if (isServed) await gateway.reload(config('/old'));
          }
        } finally {
          await gateway.close();
        }
      });
    }
  }
});
