import { deepEqual, equal } from 'node:assert/strict';
import { type BackendConfig, BackendError, HeaderBag, Reply } from '#contract';
import {
  BackendResponses,
  backendNames,
  countResponses,
  statusClasses,
} from '../../../kernel/pipeline/traffic/backend-responses.ts';
import { newCall, pipeRequest } from './requests.ts';

/** Counts by backend and class, as in `a 2xx: 1`. */
function counted(responses: BackendResponses): string[] {
  return Array.from(responses, ([name, counts]) =>
    counts.snapshot().flatMap((count, at) => (count === 0 ? [] : [`${name} ${statusClasses[at]}: ${count}`])),
  ).flat();
}

const backend = (path: string) => ({ method: 'GET', url_pattern: path });

describe('the name of a backend in metrics', () => {
  it('is its method and pattern, with a number if that is not unique', () => {
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

describe('the counters of backend responses', () => {
  it('count by status class, and calls without a response', async () => {
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

  it('count an invalid status from a plugin as no response', () => {
    const responses = new BackendResponses();
    for (const status of [Number.NaN, -1, 99, 600, 1000, 1e9]) responses.of('a').record(status);
    deepEqual(counted(responses), ['a none: 6']);
    equal(responses.of('a').snapshot().length, statusClasses.length);
  });

  it('are kept while any configuration has the backend, and dropped afterwards', () => {
    const responses = new BackendResponses();
    const [a, b] = [backend('/a'), backend('/b')];
    const [first, second] = [[a, b], [b]];
    responses.hold(first);
    responses.hold(second);
    for (const name of ['GET /a', 'GET /b']) responses.of(name).record(200);
    responses.letGo(first);
    deepEqual(counted(responses), ['GET /b 2xx: 1']);
    equal(responses.of('GET /b'), responses.of('GET /b'));
    responses.letGo(second);
    deepEqual(counted(responses), []);
  });

  it('are kept while one of two configurations with the same backends remains', () => {
    const responses = new BackendResponses();
    const backends = [backend('/a')];
    responses.hold(backends);
    responses.hold(backends);
    responses.of('GET /a').record(200);
    responses.letGo(backends);
    deepEqual(counted(responses), ['GET /a 2xx: 1']);
    responses.letGo(backends);
    deepEqual(counted(responses), []);
  });

  it('can be released before anything was counted', () => {
    const responses = new BackendResponses();
    const backends = [backend('/a')];
    responses.hold(backends);
    responses.letGo(backends);
    deepEqual(counted(responses), []);
  });
});
