import { deepEqual, equal, ok } from 'node:assert/strict';
import { Call, type Encoding, makeRequest, Reply, RequestBody } from '#contract';
import type { Operations } from '#kernel';
import { Masks } from '../../../kernel/contract/masks.ts';
import { EndpointObserver } from '../../../kernel/control/observation/endpoint-observer.ts';
import { Observers } from '../../../kernel/control/observation/observers.ts';
import type { Observable } from '../../../kernel/pipeline/traffic/observer.ts';
import { partsOf, startGateway } from '../../support/gateway.ts';
import { handTimers } from '../../support/hand-timers.ts';

const masks = new Masks([]);

/** An endpoint that responds with data at once. */
function responding(data: object = {}): Observable {
  const handle = () => Reply.data(data as never);
  return {
    endpoint: { method: 'GET', endpoint: '/' } as Observable['endpoint'],
    output: {
      name: 'json',
      encode: (value) => ({ contentType: 'json', body: JSON.stringify(value) }),
    } satisfies Encoding,
    stages: { around: [], backends: [] },
    credentials: [],
    handle,
    timed: () => handle,
    states: () => [],
  };
}

const plain = responding();

/** A request that is observed; `end` ends it. */
function send(observer: EndpointObserver, endpoint = plain, body = '') {
  const call = new Call();
  const request = makeRequest({ method: 'POST', path: '/a', body: body === '' ? null : RequestBody.of(body) });
  observer.prepare(endpoint);
  observer.run(endpoint, request, call);
  return { end: () => call.end({ status: 200, completed: true, reason: null }) };
}

describe('an observed endpoint', () => {
  let timers: ReturnType<typeof handTimers>;
  let observer: EndpointObserver;
  beforeEach(() => {
    timers = handTimers();
    observer = new EndpointObserver(() => timers.now());
  });

  const takeSampled = () => observer.take(masks).requests.filter(({ sample }) => sample !== null);

  it('samples at most 20 requests a second', () => {
    for (let ms = 0; ms < 1000; ms += 5) {
      send(observer).end();
      timers.advance(5);
    }
    equal(takeSampled().length, 20);
  });

  it('keeps at most 40 samples until they are taken', () => {
    for (let sent = 0; sent < 100; sent++) {
      send(observer).end();
      timers.advance(50);
    }
    const { finished, requests } = observer.take(masks);
    deepEqual([finished, requests.filter(({ sample }) => sample !== null).length], [100, 40]);
  });

  it('samples at most 100 requests that are in progress', () => {
    const open = [];
    for (let sent = 0; sent < 120; sent++) {
      open.push(send(observer));
      timers.advance(50);
    }
    let sampled = 0;
    for (const { end } of open) {
      end();
      sampled += takeSampled().length;
    }
    equal(sampled, 100);
  });

  it('reports the 5 slowest requests that are not sampled', () => {
    send(observer).end();
    const open = Array.from({ length: 20 }, () => send(observer));
    for (const [at, { end }] of open.entries()) {
      timers.advance(at === 7 ? 30 : 1);
      end();
    }
    const slow = observer.take(masks).requests.filter(({ sample }) => sample === null);
    deepEqual(
      slow.map(({ durationMs }) => durationMs),
      [49, 48, 47, 46, 45],
    );
  });

  it('omits bodies above 4 KiB, and large data before it is encoded', () => {
    let encoded = 0;
    const endpoint = responding({ items: Array.from({ length: 600 }, (_, at) => at) });
    const output: Encoding = {
      ...endpoint.output,
      encode: () => ({ contentType: 'json', body: String(encoded++) }),
    };
    send(observer, { ...endpoint, output }, 'x'.repeat(5000)).end();
    const [{ sample }] = takeSampled() as [ReturnType<typeof takeSampled>[number]];
    equal(sample!.request.body, null);
    deepEqual([sample!.response.body, sample!.response.omitted, encoded], [null, 'too long', 0]);
  });

  it('is served without timing if a component cannot be composed again', () => {
    const endpoint = responding({ a: 1 });
    const failing = { ...endpoint, timed: () => assertNever() };
    send(observer, failing).end();
    const [{ sample }] = takeSampled() as [ReturnType<typeof takeSampled>[number]];
    deepEqual([sample!.times, sample!.response.body], [null, '{"a":1}']);
  });
});

function assertNever(): never {
  throw new Error('composed once');
}

describe('the observed endpoints of a process', () => {
  let gateway: Operations;
  let observers: Observers;
  let timers: ReturnType<typeof handTimers>;
  before(async () => {
    const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];
    const endpoints = Array.from({ length: 70 }, (_, at) => ({ endpoint: `/a${at}`, backend }));
    gateway = await startGateway({ endpoints });
  });
  beforeEach(() => {
    timers = handTimers();
    observers = new Observers(() => partsOf(gateway).generations.current.runtime.compiled, timers);
  });
  afterEach(() => observers.close());
  after(() => gateway.close());

  const isObserved = () =>
    partsOf(gateway).generations.current.runtime.compiled.published.some(({ traffic }) => traffic.observer !== null);

  it('are observed for 5 seconds after they were asked for', () => {
    ok(observers.take('GET /a1'));
    timers.advance(4000);
    ok(observers.take('GET /a1'));
    timers.advance(4000);
    equal(isObserved(), true);
    timers.advance(1000);
    deepEqual([isObserved(), observers.size], [false, 0]);
  });

  it('are at most 64', () => {
    for (let at = 0; at < 64; at++) ok(observers.take(`GET /a${at}`));
    equal(observers.take('GET /a64'), null);
    ok(observers.take('GET /a3'));
    observers.release('GET /a3');
    ok(observers.take('GET /a64'));
  });

  it('are looked up by ID, also by one that is a name of Object.prototype', () => {
    for (const id of ['__proto__', 'constructor', 'GET /missing']) equal(observers.take(id), null);
    equal(observers.size, 0);
  });
});
