import { deepEqual, equal, ok } from 'node:assert/strict';
import { beginStream, streamed, wholeStream } from '../../../support/models.ts';
import { openStream } from '../../../support/stream-client.ts';
import { modelOf } from '../llm/fixture.ts';
import { failing, RouterTestbed } from './setup.ts';

describe('ai/router with streams', function () {
  this.timeout(30_000);
  let testbed: RouterTestbed;

  before(async () => {
    testbed = await RouterTestbed.open();
  });
  beforeEach(() => {
    testbed.reset();
    for (const name of ['a', 'b', 'c'] as const) {
      const vendor = name === 'b' ? 'anthropic' : 'openai';
      testbed.respond[name] = (_seen, response) =>
        void beginStream(vendor, response).end(wholeStream(vendor, modelOf(vendor).fixture));
    }
  });
  afterEach(() => testbed.closeGateways());
  after(() => testbed.close());

  const chain = { routes: [{ provider: 'a' }], failover: 'b' };
  const streaming = { output_encoding: 'streaming' };
  const open = async (router: object = chain, endpoint: object = streaming) => {
    const gateway = await testbed.serve(router, endpoint);
    const { port } = await gateway.listen();
    return openStream(port, '/ask', { 'content-type': 'application/json' }, '{"contents":"hi"}');
  };
  /** Sends the first message of a stream, and cuts the connection. */
  const breakingOff = (_seen: unknown, response: Parameters<typeof beginStream>[1]) => {
    const { messages } = modelOf('openai').fixture.stream;
    beginStream('openai', response).write(
      streamed('openai', messages.find(({ data }) => JSON.stringify(data).includes('delta'))!),
      () => response.destroy(),
    );
  };

  it('streams in the format of OpenAI if the providers are of several vendors', async () => {
    const stream = await open();
    await stream.until('data: [DONE]');
    equal(stream.headers['x-ai-provider'], 'a');
    equal(stream.headers['content-type'], 'text/event-stream');
  });

  it('streams messages unchanged if all providers are of one vendor', async () => {
    const stream = await open({ routes: [{ provider: 'a' }], failover: 'c' });
    await stream.until('response.completed');
  });

  it('streams in the configured format', async () => {
    const stream = await open({ ...chain, format: 'anthropic' });
    await stream.until('message_stop');
  });

  it('tries the next provider after an error status', async () => {
    testbed.respond.a = failing(529);
    const stream = await open();
    await stream.until('data: [DONE]');
    equal(stream.headers['x-ai-provider'], 'b');
  });

  it('tries the next provider if a stream ends before its first byte', async () => {
    for (const broken of ['end', 'destroy'] as const) {
      testbed.respond.a = (_seen, response) => {
        beginStream('openai', response).flushHeaders();
        setImmediate(() => response[broken]());
      };
      const stream = await open({ routes: [{ provider: 'a' }], failover: 'c', cooldown: '0s' });
      await stream.until('response.completed');
      equal(stream.headers['x-ai-provider'], 'c', broken);
    }
  });

  it('tries the next provider if a stream does not begin in time', async () => {
    testbed.respond.a = (_seen, response) => beginStream('openai', response).flushHeaders();
    const stream = await open({ ...chain, attempt_timeout: '50ms' });
    await stream.until('data: [DONE]');
    equal(stream.headers['x-ai-provider'], 'b');
  });

  it('never tries the next provider after the first byte', async () => {
    testbed.respond.a = breakingOff;
    const stream = await open({ routes: [{ provider: 'a' }], failover: 'c' });
    await stream.ended();
    ok(stream.bytes.includes('delta'));
    deepEqual(testbed.counts, { a: 1, b: 0, c: 0 });
  });

  it('streams chat completions of the next provider', async () => {
    testbed.respond.a = failing(503);
    const gateway = await testbed.start(testbed.chatConfigOf(chain));
    const { port } = await gateway.listen();
    const body = { model: 'gateway-model', stream: true, messages: [{ role: 'user', content: 'hi' }] };
    const stream = await openStream(port, '/ask', { 'content-type': 'application/json' }, JSON.stringify(body));
    await stream.until('data: [DONE]');
    equal(stream.headers['x-ai-provider'], 'b');
  });
});
