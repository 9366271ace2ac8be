import { equal } from 'node:assert/strict';
import { ByteStream, HeaderBag, Reply } from '#contract';
import { startPlugged } from '../../support/plugged.ts';
import { openStream } from '../../support/stream-client.ts';

describe('a long-lived response', () => {
  it('outlives the timeout of its endpoint, and ends normally when the gateway closes', async () => {
    const body = new ByteStream({});
    const gateway = await startPlugged(
      {
        timeout: '2s',
        endpoints: ['lasts', 'hangs'].map((act) => ({
          endpoint: `/${act}`,
          output_encoding: 'no-op',
          extra_config: { test: { act } },
          backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }],
        })),
      },
      {
        endpoint: {
          lasts: {
            endpoint: () => () => {
              const reply = Reply.raw(200, new HeaderBag(['Content-Type', 'text/event-stream']), body);
              reply.lasts = true;
              return reply;
            },
          },
          hangs: { endpoint: () => () => new Promise(() => {}) },
        },
      },
    );
    const { port } = await gateway.listen();
    const client = await openStream(port, '/lasts');
    // Sends another request with the same timeout: once that request has timed out, the timeout of the first one has
    // expired, too.
    equal((await gateway.inject({ url: '/hangs' })).statusCode, 500);
    body.write(Buffer.from('still here'));
    await client.until('still here');
    await gateway.close();
    equal(await client.ended(), true);
  });
});
