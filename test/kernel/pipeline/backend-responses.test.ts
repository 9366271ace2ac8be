import { deepEqual, equal } from 'node:assert/strict';
import { type BackendConfig, BackendError, HeaderBag, Reply } from '#contract';
import {
  BackendResponses,
  backendNames,
  countResponses,
  statusClasses,
} from '../../../kernel/pipeline/backend-responses.ts';
import { newCall, pipeRequest } from './requests.ts';

/** What was counted, by backend and class, as in `a 2xx: 1`. */
function counted(responses: BackendResponses): string[] {
  return Array.from(responses, ([name, counts]) =>
    counts.snapshot().flatMap((count, at) => (count === 0 ? [] : [`${name} ${statusClasses[at]}: ${count}`])),
  ).flat();
}

describe('the name of a backend among those of its endpoint', () => {
  it('is its method and pattern, with a number from the second of that name on', () => {
    const backends = [
      ['GET', '/a'],
      ['POST', '/a'],
      ['GET', '/a'],
      ['GET', '/b'],
      ['GET', '/a'],
    ].map(([method, url_pattern]) => ({ method, url_pattern }) as BackendConfig);
    deepEqual(backendNames(backends), ['GET /a', 'POST /a', 'GET /a#2', 'GET /b', 'GET /a#3']);
  });
});

describe('the answers of backends', () => {
  it('are counted by their status, and that there was none', async () => {
    const responses = new BackendResponses();
    const replies = [
      () => Reply.raw(204, new HeaderBag(), null),
      async () => Reply.raw(201, new HeaderBag(), null),
      () => Reply.failed(new BackendError('BACKEND_STATUS', 'no', { upstreamStatus: 404 })),
      () => Reply.failed(new BackendError('BACKEND_CONNECT', 'refused')),
    ];
    const step = countResponses(responses, 'a', () => replies.shift()!());
    deepEqual(counted(responses), []);
    const statuses: number[] = [];
    while (replies.length > 0) statuses.push((await step(pipeRequest(), newCall())).status);
    deepEqual(statuses, [204, 201, 500, 500]);
    deepEqual(counted(responses), ['a none: 1', 'a 2xx: 2', 'a 4xx: 1']);
  });

  it('are kept while any configuration has the backend, and forgotten after it', () => {
    const responses = new BackendResponses();
    const [first, second] = [responses.hold(['a', 'b']), responses.hold(['b'])];
    for (const name of ['a', 'b']) responses.of(name).record(200);
    first();
    deepEqual(counted(responses), ['b 2xx: 1']);
    equal(responses.of('b'), responses.of('b'));
    second();
    deepEqual(counted(responses), []);
  });

  it('may be returned before there were any', () => {
    const responses = new BackendResponses();
    responses.hold(['a'])();
    deepEqual(counted(responses), []);
  });
});
