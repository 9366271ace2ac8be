import { deepEqual, equal, ok } from 'node:assert/strict';
import { cost } from '../../support/cost.ts';
import { normalize } from '../../support/known.ts';

/** A service of the given size without errors. */
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

function costOf(document: object): number {
  return cost(() => deepEqual(normalize(document).errors, []));
}

function costOfErrors(endpoints: number): number {
  const backend = [{ url_pattern: '/', host: ['http://a.test'] }];
  const wrong = Array.from({ length: endpoints }, (_, at) => ({
    endpoint: `/${at}`,
    methot: 'GET',
    timeout: 'x',
    backend,
  }));
  return cost(() => equal(normalize({ version: 3, endpoints: wrong }).errors.length, 2 * endpoints));
}

describe('the rules of check, for a large configuration', () => {
  it('take work in proportion to its endpoints', () => {
    const small = costOf(large(1000));
    ok(costOf(large(8000)) < 30 * small, 'eight times the endpoints, thirty times the time');
  });

  it('take time in proportion to its errors', () => {
    const small = costOfErrors(2000);
    ok(costOfErrors(16_000) < 20 * small, 'eight times the mistakes, twenty times the time');
  });
});
