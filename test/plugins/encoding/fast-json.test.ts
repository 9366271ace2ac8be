import { deepEqual, equal } from 'node:assert/strict';
import { startBackend, startGateway } from '../../support/gateway.ts';

describe('an endpoint with the output encoding fast-json', () => {
  /** A number that decoding would change into 1. */
  const body = '{"a":1.0,"b":2}';

  const respond = async (backends: readonly object[]) => {
    const server = await startBackend((_seen, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(body);
    });
    const gateway = await startGateway({
      host: [server.url],
      endpoints: [
        {
          endpoint: '/a',
          output_encoding: 'fast-json',
          backend: backends.map((backend) => ({ url_pattern: '/', ...backend })),
        },
      ],
    });
    const { payload, headers } = await gateway.inject('/a');
    await gateway.close();
    await server.close();
    return [payload, headers['content-type']];
  };

  for (const encoding of ['json', 'fast-json']) {
    it(`passes the bytes of backends with the encoding ${encoding}, filtered and merged without decoding`, async () => {
      const type = 'application/json; charset=utf-8';
      deepEqual(await respond([{ encoding }]), [body, type]);
      deepEqual(await respond([{ encoding, allow: ['a'] }]), ['{"a":1.0}', type]);
      deepEqual(
        await respond([
          { encoding, group: 'x' },
          { encoding: 'json', deny: ['b'] },
        ]),
        ['{"x":{"a":1.0,"b":2},"a":1.0}', type],
      );
    });
  }

  it('encodes the data of backends with other encodings', async () => {
    equal((await respond([{ encoding: 'safejson' }]))[0], '{"a":1,"b":2}');
  });
});
