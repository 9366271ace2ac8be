import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import type { EndpointConfig } from '#contract';
import { Streams } from '../../../kernel/control/streams.ts';
import type { Route } from '../../../kernel/pipeline/compile/route.ts';
import type { StreamLease } from '../../../kernel/pipeline/traffic/stream-lease.ts';

const DRAIN_MS = 1_000;

describe('streams of replaced configurations', () => {
  let streams: Streams;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    streams = new Streams();
  });
  afterEach(() => {
    streams.close();
    mock.reset();
  });

  /** The open streams of one endpoint, and the method calls that they received. */
  function lease(count = 1): StreamLease & { streams: number; readonly notices: string[] } {
    const reported: string[] = [];
    return {
      streams: count,
      notices: reported,
      enter() {},
      leave() {},
      end: () => void reported.push('end'),
      endLasting: () => void reported.push('endLasting'),
    };
  }

  const route = (path: string, hold: StreamLease, timeout = 1): Route =>
    ({ hold, endpoint: { method: 'GET', endpoint: path, timeout } as unknown as EndpointConfig }) as Route;

  const lastOf = (all: ReadonlyMap<string, number>) => Object.fromEntries(all);

  it('continue if their endpoint is unchanged', () => {
    const hold = lease();
    streams.follow([route('/a', hold)], [route('/a', lease(0))], DRAIN_MS);
    mock.timers.tick(10 * DRAIN_MS);
    deepEqual([hold.notices, streams.size], [[], 1]);
  });

  for (const [what, serving] of [
    ['has changed', [route('/a', lease(0), 2)]],
    ['was removed', []],
    ['has a new path', [route('/b', lease(0))]],
  ] as const) {
    it(`end after drain_timeout if their endpoint ${what}`, () => {
      const hold = lease();
      streams.follow([route('/a', hold)], serving, DRAIN_MS);
      mock.timers.tick(DRAIN_MS - 1);
      deepEqual(hold.notices, []);
      mock.timers.tick(1);
      deepEqual(hold.notices, ['end']);
    });
  }

  it('end at the original time, regardless of later changes', () => {
    const hold = lease();
    streams.follow([route('/a', hold)], [], DRAIN_MS);
    mock.timers.tick(DRAIN_MS - 1);
    streams.follow([], [], DRAIN_MS);
    mock.timers.tick(1);
    deepEqual(hold.notices, ['end']);
  });

  it('continue if their endpoint is restored, and survive another change of the endpoint', () => {
    const hold = lease();
    streams.follow([route('/a', hold)], [], DRAIN_MS);
    streams.follow([], [route('/a', lease(0))], DRAIN_MS);
    mock.timers.tick(DRAIN_MS);
    deepEqual(hold.notices, []);
    streams.follow([], [], DRAIN_MS);
    mock.timers.tick(DRAIN_MS);
    deepEqual(hold.notices, ['end']);
  });

  it('are assigned to the endpoint on which they began, over several replacements', () => {
    const hold = lease();
    streams.follow([route('/a', hold)], [route('/a', lease(0))], DRAIN_MS);
    streams.follow([route('/a', hold, 2)], [route('/a', lease(0), 2)], DRAIN_MS);
    mock.timers.tick(DRAIN_MS);
    deepEqual(hold.notices, ['end']);
  });

  it('are forgotten when they have ended', () => {
    const hold = lease();
    streams.follow([route('/a', hold)], [], DRAIN_MS);
    hold.streams = 0;
    streams.follow([], [], DRAIN_MS);
    streams.endLasting();
    mock.timers.tick(DRAIN_MS);
    deepEqual([hold.notices, streams.size], [[], 0]);
  });

  it('are not tracked if their endpoint has no stream', () => {
    const hold = lease(0);
    streams.follow([route('/a', hold)], [], DRAIN_MS);
    streams.endLasting();
    mock.timers.tick(DRAIN_MS);
    deepEqual([hold.notices, streams.size], [[], 0]);
  });

  it('are counted in total', () => {
    streams.follow([route('/a', lease(2)), route('/b', lease(3))], [], DRAIN_MS);
    equal(streams.size, 5);
  });

  it('are counted by endpoint, including newer ones, but not those that are about to end', () => {
    streams.follow(
      [route('/same', lease(2)), route('/gone', lease(3))],
      [route('/same', lease(0)), route('/quiet', lease(0))],
      DRAIN_MS,
    );
    const serving = [route('/same', lease(4)), route('/quiet', lease(0)), route('/new', lease(1))];
    deepEqual(lastOf(streams.byEndpoint(serving)), { 'GET /same': 6, 'GET /new': 1 });
  });

  it('end normally when the gateway closes', () => {
    const [one, two] = [lease(), lease()];
    streams.follow([route('/a', one), route('/b', two)], [route('/a', lease(0))], DRAIN_MS);
    streams.endLasting();
    deepEqual([one.notices, two.notices], [['endLasting'], ['endLasting']]);
  });

  it('are not ended again after it has closed', () => {
    const hold = lease();
    streams.follow([route('/a', hold)], [], DRAIN_MS);
    streams.close();
    mock.timers.tick(DRAIN_MS);
    deepEqual([hold.notices, streams.size], [[], 0]);
  });
});
