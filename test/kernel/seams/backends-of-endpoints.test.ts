import { deepEqual, equal } from 'node:assert/strict';
import { atEndpoint, definePlugin, HeaderBag, Reply } from '#contract';
import type { Gateway } from '../../../kernel/index.ts';
import { startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** A component of an endpoint that calls the endpoint's backend itself, with the next of its addresses. */
const telegraph = definePlugin({
  name: 'test/telegraph',
  description: 'Tells what is asked of the backend.',
  places: [
    atEndpoint({ type: 'object', properties: {} }, () => ({
      eachBackend: ({ backend }) => {
        let next: () => string | undefined = () => 'none';
        return {
          protocol: {
            schemes: ['tele'],
            keepsQuery: true,
            addresses(given) {
              next = given;
            },
            call: ({ origin, target }) =>
              Reply.raw(200, new HeaderBag(), Buffer.from([backend.url_pattern, origin, target, next()].join(' '))),
          },
        };
      },
    })),
  ],
});

describe("a component of an endpoint that attaches to the endpoint's backends", () => {
  let backend: TestBackend;
  let gateway: Gateway | undefined;

  beforeEach(async () => {
    backend = await startBackend((_seen, response) => void response.end('plain'));
  });
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
    await backend.close();
  });

  const endpointWith = (more: object) => ({ output_encoding: 'no-op', input_query_strings: ['*'], ...more });
  const ask = async (path: string): Promise<string> => {
    const { port } = await gateway!.listen();
    return (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  };

  it('can call them over another protocol at their own addresses, and does not affect other endpoints', async () => {
    const host = ['tele://a:1/base', 'tele://b:2'];
    gateway = await startWith([telegraph], {
      endpoints: [
        endpointWith({
          endpoint: '/tele/{name}',
          extra_config: { 'test/telegraph': {} },
          backend: [{ host, disable_host_sanitize: true, url_pattern: '/{name}?v=1&w=2' }],
        }),
        endpointWith({ endpoint: '/plain', backend: [{ host: [backend.url], url_pattern: '/' }] }),
      ],
    });
    const [first, second] = [await ask('/tele/x'), await ask('/tele/x')].map((text) => text.split(' '));
    const own = [
      ['/{name}?v=1&w=2', 'tele://a:1', '/base/x?v=1&w=2', 'tele://b:2'],
      ['/{name}?v=1&w=2', 'tele://b:2', '/x?v=1&w=2', 'tele://a:1/base'],
    ];
    // Each request takes two addresses from the rotation, so the next request begins with the same address.
    deepEqual(
      first,
      own.find(([, origin]) => origin === first![1]),
    );
    deepEqual(second, first);
    equal(await ask('/plain'), 'plain');
  });

  it('can send the query of url_pattern, which replaces client parameters of the same name', async () => {
    gateway = await startWith([telegraph], {
      endpoints: [
        endpointWith({
          endpoint: '/tele',
          extra_config: { 'test/telegraph': {} },
          backend: [{ host: ['tele://a:1'], disable_host_sanitize: true, url_pattern: '/?v=1&w=a%20b' }],
        }),
      ],
    });
    equal((await ask('/tele?x=%20y&v=2')).split(' ')[2], '/?v=1&w=a%20b&x=+y');
    equal((await ask('/tele?v=2')).split(' ')[2], '/?v=1&w=a%20b');
  });
});
