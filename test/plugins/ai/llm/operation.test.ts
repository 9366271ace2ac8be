import { deepEqual, equal, ok } from 'node:assert/strict';
import { type ActiveSpan, type ByteStream, type Call, HeaderBag, meters, offer, Reply, tracers } from '#contract';
import { openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/llm/index.ts';
import { plugin as sse } from '../../../../plugins/encoding/sse.ts';
import { models, wholeStream } from '../../../support/models.ts';
import { modelOf } from './fixture.ts';

/** A meter and a tracer that record everything. */
function observed() {
  const recorded: [name: string, value: number, attributes: Record<string, unknown>][] = [];
  const spans: { name: string; attributes: Record<string, unknown>; failed?: string | undefined; ends: number }[] = [];
  const instrument = (name: string) => {
    const keep = (value: number, attributes = {}) => void recorded.push([name, value, attributes]);
    return { add: keep, record: keep };
  };
  const meter = { counter: instrument, upDownCounter: instrument, histogram: instrument };
  const tracer = {
    start: (call: Call, name: string, attributes: object = {}): ActiveSpan => {
      const span: (typeof spans)[number] = { name, attributes: { ...attributes }, ends: 0 };
      spans.push(span);
      return {
        call,
        set: (more) => void Object.assign(span.attributes, more),
        event() {},
        fail(reason) {
          span.failed = reason;
        },
        end: () => void span.ends++,
      };
    },
  };
  const of = (name: string) =>
    recorded.filter(([each]) => each === name).map(([, value, attributes]) => ({ value, attributes }));
  return { of, spans, offers: [offer(meters, meter), offer(tracers, tracer)] };
}

const openai = modelOf('openai').fixture;
const call = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm' };

describe('the telemetry of models', () => {
  const open = (next: () => Reply, { of: _of, spans: _spans, offers }: ReturnType<typeof observed>, endpoint = {}) =>
    openHarness(
      plugin,
      'backend',
      {
        openai: { v1: { credentials: 'k', variables: { model: 'm' }, price: { input: 1_000_000, output: 2_000_000 } } },
      },
      { backend: { method: 'POST', url_pattern: '/v1/responses' }, endpoint, offers, next, plugins: [sse] },
    );
  const prompt = { method: 'POST', body: '{"contents":"a secret prompt"}' };
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 9 };

  it('follow the semantic conventions of OpenTelemetry for spans, token usage and duration', async () => {
    const seen = observed();
    const gate = await open(() => Reply.data({ usage }), seen);
    await gate.send(prompt);
    deepEqual(seen.of('gen_ai.client.token.usage'), [
      { value: 3, attributes: { ...call, 'gen_ai.token.type': 'input' } },
      { value: 6, attributes: { ...call, 'gen_ai.token.type': 'output' } },
    ]);
    deepEqual(
      seen.of('gen_ai.client.operation.duration').map(({ attributes }) => attributes),
      [call],
    );
    const [span] = seen.spans;
    deepEqual(
      [span!.name, span!.attributes, span!.ends],
      ['chat m', { ...call, 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.output_tokens': 6 }, 1],
    );
    ok(!JSON.stringify(seen.spans).includes('secret'));
    await gate.close();
  });

  it('counts costs by the price of the model', async () => {
    const seen = observed();
    const gate = await open(() => Reply.data({ usage }), seen);
    await gate.send(prompt);
    deepEqual(seen.of('ai.cost'), [{ value: 15, attributes: { vendor: 'openai', model: 'm', endpoint: '/test' } }]);
    await gate.close();
  });

  it('reports failures with their type', async () => {
    const seen = observed();
    const gate = await open(() => Reply.data({ usage }), seen);
    await gate.send({ method: 'POST', body: '{}' });
    deepEqual(
      seen.of('gen_ai.client.operation.duration').map(({ attributes }) => attributes['error.type']),
      ['LLM_PROMPT'],
    );
    deepEqual([seen.spans[0]!.failed, seen.spans[0]!.attributes['error.type']], ['LLM_PROMPT', 'LLM_PROMPT']);
    await gate.close();
  });

  it('measures streams until their end, and until their first message', async () => {
    const seen = observed();
    const headers = () => new HeaderBag(['Content-Type', 'text/event-stream']);
    const gate = await open(() => Reply.raw(200, headers(), wholeStream('openai', openai)), seen, {
      output_encoding: 'sse',
    });
    const { body } = await gate.send(prompt);
    await (body as ByteStream).collect(1e6);
    equal(seen.of('gen_ai.client.operation.time_to_first_chunk').length, 1);
    equal(seen.of('gen_ai.client.operation.duration').length, 1);
    equal(seen.of('gen_ai.client.token.usage').length, 2);
    equal(seen.spans[0]!.ends, 1);
    await gate.close();
  });

  it('name vendors as the semantic conventions do', async () => {
    for (const [vendor, version, fixture] of models) {
      const seen = observed();
      const config = { [vendor]: { [version]: { credentials: 'k', variables: fixture.variables } } };
      const gate = await openHarness(plugin, 'backend', config, {
        backend: { method: 'POST', url_pattern: fixture.url_pattern },
        offers: seen.offers,
        next: () => Reply.data(fixture.answer as never),
      });
      await gate.send(prompt);
      const name = { gemini: 'gcp.gemini', bedrock: 'aws.bedrock', mistral: 'mistral_ai' }[vendor] ?? vendor;
      equal(seen.spans[0]!.attributes['gen_ai.provider.name'], name);
      await gate.close();
    }
  });
});
