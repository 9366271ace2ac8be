import { deepEqual, ok } from 'node:assert/strict';
import { normalize } from '../../../kernel/config/index.ts';

/** A service of that size without a mistake. */
function large(endpoints: number): object {
  return {
    version: 3,
    endpoints: Array.from({ length: endpoints }, (_, at) => ({
      endpoint: `/service${at % 100}/item${at}/{id}`,
      input_headers: ['Authorization', 'X-Id'],
      backend: [
        { url_pattern: `/items/${at}/{id}`, host: [`http://b${at % 50}.test`], allow: ['id'], group: 'a' },
        { url_pattern: '/more/{id}', host: ['http://c.test'], group: 'b', input_headers: ['X-Id'] },
      ],
    })),
  };
}

/** Shortest of three runs, in milliseconds. */
function cost(document: object): number {
  const runs = Array.from({ length: 3 }, () => {
    const start = performance.now();
    deepEqual(normalize(document).errors, []);
    return performance.now() - start;
  });
  return Math.min(...runs);
}

describe('the rules of a large configuration', () => {
  it('cost in proportion to its endpoints', () => {
    const small = cost(large(1000));
    ok(cost(large(8000)) < 30 * small, 'eight times the endpoints, thirty times the time');
  }).timeout(20_000);
});
