import { deepEqual, equal } from 'node:assert/strict';
import { ByteStream, CallError, type DataObject, HeaderBag, Reply, refuse } from '#contract';
import { plugin } from '../../../plugins/proxy/index.ts';
import { openHarness } from '../../support/harness.ts';
import { refusal } from './around.ts';

type Make = () => Reply;

const whole: Make = () => Reply.data({ a: 1, b: 2 });
const empty: Make = () => Reply.data({});
const down: Make = () => Reply.failed(new CallError('X', 'down'));
const nothing: Make = () => Reply.data(null, false);
const refused: Make = () => refuse(429);
const detailed: Make = () => Reply.data({ a: 1, error_b: {} }, false);
const partial: Make = () => {
  const reply = Reply.data({ a: 1, b: 2 }, false);
  reply.errors = [new CallError('X', 'one is down')];
  return reply;
};

const harness = (strategy: string, data: unknown = { a: 9 }, next: Make = whole) =>
  openHarness(plugin, 'endpoint', { static: { data, strategy } }, { next });

const send = async (strategy: string, next: Make, data?: unknown) =>
  (await harness(strategy, data, next)).send('GET /');

describe('the static setting of proxy', () => {
  it('replaces equal keys and keeps the others', async () => {
    const reply = await send('always', whole);
    deepEqual(reply.data, { a: 9, b: 2 });
    equal(reply.complete, true);
  });

  it('merges top-level keys only', async () => {
    const reply = await send('always', () => Reply.data({ o: { x: 1 } }), { o: { y: 2 } });
    deepEqual(reply.data, { o: { y: 2 } });
  });

  const complete = { 'complete data': whole, 'empty data': empty };
  const detailsOnly = { 'incomplete data with the details of an error': detailed };
  const absent = { 'no data': nothing };
  const failures = { 'incomplete data with an error': partial, 'a failure': down, 'a rejection': refused };
  const cases: Record<string, { applies: Record<string, Make>; doesNot: Record<string, Make> }> = {
    always: { applies: { ...complete, ...detailsOnly, ...absent, ...failures }, doesNot: {} },
    success: { applies: { ...complete, ...detailsOnly, ...absent }, doesNot: failures },
    complete: { applies: complete, doesNot: { ...detailsOnly, ...absent, ...failures } },
    errored: { applies: failures, doesNot: { ...complete, ...detailsOnly, ...absent } },
    incomplete: { applies: { ...detailsOnly, ...absent, ...failures }, doesNot: complete },
  };
  for (const [strategy, { applies, doesNot }] of Object.entries(cases)) {
    it(`with the strategy "${strategy}" adds the data to ${Object.keys(applies).join(', ')}, but not to ${Object.keys(doesNot).join(', ') || 'other responses'}`, async () => {
      for (const [name, next] of Object.entries(applies)) equal((await send(strategy, next)).data?.['a'], 9, name);
      for (const [name, next] of Object.entries(doesNot)) {
        deepEqual((await send(strategy, next)).data, next().data, name);
      }
    });
  }

  it('turns a failed endpoint into an incomplete 200 and keeps its errors', async () => {
    const reply = await send('errored', down);
    equal(reply.status, 200);
    deepEqual(reply.data, { a: 9 });
    equal(reply.complete, false);
    deepEqual(
      reply.errors.map(({ message }) => message),
      ['down'],
    );
  });

  it('keeps a partial response incomplete', async () => {
    const reply = await send('incomplete', partial);
    deepEqual(reply.data, { a: 9, b: 2 });
    equal(reply.complete, false);
    equal(reply.errors.length, 1);
  });

  it('drops the body and headers of a failure', async () => {
    const body = new ByteStream();
    const reply = await send('always', () => {
      const failed = Reply.raw(418, new HeaderBag(['Content-Type', 'text/plain']), body);
      failed.errors = [new CallError('X', 'custom')];
      return failed;
    });
    equal(reply.body, null);
    equal(reply.headers.get('content-type'), undefined);
    equal(reply.status, 200);
  });

  it('keeps every key of the data, including keys that are comments elsewhere', async () => {
    const data = JSON.parse('{"$ref":1,"@type":"x","_id":2,"#":3,"__proto__":{"x":1}}');
    const reply = await send('always', empty, data);
    equal(JSON.stringify(reply.data), '{"$ref":1,"@type":"x","_id":2,"#":3,"__proto__":{"x":1}}');
  });

  it('is the same for every request, even if a component modifies a response', async () => {
    for (const next of [empty, down]) {
      const gate = await harness('always', { o: { list: [1] }, n: 1 }, next);
      const first = await gate.send('GET /');
      const data = first.data as DataObject & { o: { list: number[] } };
      data['n'] = 2;
      data.o.list.push(2);
      deepEqual((await gate.send('GET /')).data, { o: { list: [1] }, n: 1 });
    }
  });

  it('can be modified by later components even if a response has no other data', async () => {
    const reply = await send('always', down, { n: 1 });
    reply.data!['m'] = 2;
    deepEqual(reply.data, { n: 1, m: 2 });
  });

  it('declares that it reads the decoded data', async () => {
    equal((await harness('always')).attached.readsData, true);
  });

  it('is rejected if the endpoint has the no-op encoding', async () => {
    for (const output_encoding of ['no-op', 'streaming', 'sse', 'ndjson', 'eventstream']) {
      const config = { static: { data: { a: 1 }, strategy: 'always' } };
      deepEqual(await refusal(openHarness(plugin, 'endpoint', config, { endpoint: { output_encoding } })), [
        '/static PROXY_STATIC_RAW',
      ]);
    }
  });

  it('requires data and a known strategy', async () => {
    const refused = async (config: unknown) =>
      (await refusal(openHarness(plugin, 'endpoint', { static: config }))).length;
    equal(await refused({ data: {} }), 1);
    equal(await refused({ strategy: 'always' }), 1);
    equal(await refused({ data: {}, strategy: 'sometimes' }), 1);
    equal(await refused({ data: [], strategy: 'always' }), 1);
  });

  it('returns a copy of its data, which later components can modify', async () => {
    const gate = await harness('always', { o: {} }, empty);
    const { data } = await gate.send('GET /');
    equal(Object.isFrozen(data!['o']), false);
  });
});
