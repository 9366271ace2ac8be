import { deepEqual } from 'node:assert/strict';
import { after as afterwards, type ClientRequest } from '#contract';
import { startBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';
import { ask } from './ask.ts';

const middleware = async (_context: unknown, next: () => Promise<unknown>): Promise<void> => void (await next());

describe('a response that Node.js refuses to write', () => {
  for (const [where, service] of [
    ['without middleware', {}],
    ['behind Koa middleware', { middleware }],
  ] as const) {
    it(`closes the backend's connection, ${where}`, async () => {
      const unwritable = {
        endpoint: afterwards<ClientRequest>((reply) => void reply.headers.list.push('X-Name', '\u017c')),
      };
      const left = Promise.withResolvers<void>();
      const backend = await startBackend((_seen, response) => {
        response.once('close', () => left.resolve());
        response.end(Buffer.alloc(20_000_000));
      });
      const gateway = await startPlugged(
        {
          extra_config: { test: {} },
          endpoints: [
            {
              endpoint: '/large',
              output_encoding: 'no-op',
              extra_config: { test: { act: 'unwritable' } },
              backend: [{ url_pattern: '/', encoding: 'no-op', host: [backend.url] }],
            },
          ],
        },
        { service, endpoint: { unwritable } },
      );
      try {
        const { port } = await gateway.listen();
        const { status, text } = await ask(port, 'GET /large');
        deepEqual([status, text], [500, '']);
        await left.promise;
      } finally {
        await gateway.close();
        await backend.close();
      }
    });

    it(`is replaced with 500, and its connection stays open, ${where}`, async () => {
      const forged = {
        endpoint: afterwards<ClientRequest>((reply) => void reply.headers.list.push('X-Forged', 'a\r\nSet-Cookie: b')),
      };
      const gateway = await startPlugged(
        {
          extra_config: { test: {} },
          endpoints: [
            {
              endpoint: '/forged',
              extra_config: { test: { act: 'forged' }, proxy: { static: { strategy: 'always', data: { a: 1 } } } },
              backend: [{ url_pattern: '/', host: ['http://127.0.0.1:1'] }],
            },
          ],
        },
        { service, endpoint: { forged } },
      );
      try {
        const { port } = await gateway.listen();
        const { status, headers, text } = await ask(port, 'GET /forged');
        deepEqual([status, headers['set-cookie'], headers['x-forged'], text], [500, undefined, undefined, '']);
        deepEqual((await ask(port, 'GET /none')).status, 404);
      } finally {
        await gateway.close();
      }
    });
  }
});
