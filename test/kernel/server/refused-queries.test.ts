import { deepEqual, equal, match } from 'node:assert/strict';
import { rememberingSinks } from '../../support/gateway.ts';
import { ask } from './ask.ts';
import { ask as askHttp2, Secure } from './secure.ts';

const path = `/a?secret=x&${'a&'.repeat(1_000)}b`;

describe('rejected requests with more than 1,000 query parameters', () => {
  let secure: Secure;
  before(() => {
    secure = new Secure();
  });
  afterEach(() => secure.close());
  after(() => secure.made.remove());

  for (const [protocol, refuse] of [
    ['HTTP/1.1', async (port: number) => (await ask(port, `GET ${path}`)).status],
    [
      'HTTP/2',
      async (port: number) =>
        (await askHttp2(secure.session(port, 'http'), { ':path': path })).headers[':status'] as unknown as number,
    ],
  ] as const) {
    it(`are logged at most once a second over ${protocol}, without their query`, async () => {
      const sinks = rememberingSinks();
      const { port } = await secure.listen({ use_h2c: true }, { sinks });
      deepEqual([await refuse(port), await refuse(port)], [414, 414]);
      const lines = sinks.lines.filter((line) => line.includes('414'));
      match(lines[0]!, /WARNING.*request rejected with 414: GET "\/a" has more than 1,000 query parameters\n$/);
      equal(
        lines.some((line) => line.includes('secret')),
        false,
      );
    });
  }
});
