import { deepEqual, equal, match } from 'node:assert/strict';
import { Call } from '#contract';
import { MessageEventWriter } from '../../../../plugins/ai/llm/message-events.ts';
import type { Progress } from '../../../../plugins/ai/llm/vendor.ts';
import type { Answering } from '../../../support/gateway.ts';
import { beginStream, models, wholeStream } from '../../../support/models.ts';
import { openStream, type StreamedResponse } from '../../../support/stream-client.ts';
import { ModelTestbed, modelBackend } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: events of another API
type Event = any;

/** The events of a stream; the name of each is its type. */
function eventsOf(text: string): Event[] {
  return text
    .split('\n\n')
    .filter(Boolean)
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: ([^\n]*)$/.exec(event)!;
      const parsed = JSON.parse(data!);
      equal(parsed.type, name);
      return parsed;
    });
}

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type).filter((type) => type !== 'ping');
const textOf = (events: readonly Event[]) => events.map(({ delta }) => delta?.text ?? '').join('');

describe('ai/llm with the format anthropic', () => {
  let testbed: ModelTestbed;
  let respond: Answering;

  before(async () => {
    testbed = await ModelTestbed.open((seen, response) => respond(seen, response));
  });
  afterEach(() => testbed.closeGateways());
  after(() => testbed.close());

  const whole = async (...given: Parameters<ModelTestbed['serve']>): Promise<StreamedResponse> => {
    const gateway = await testbed.serve(...given);
    const { port } = await gateway.listen();
    const stream = await openStream(port, '/ask', { 'content-type': 'application/json' }, '{"contents":"hi"}');
    await stream.ended();
    return stream;
  };
  const streaming = { output_encoding: 'streaming' };

  for (const [vendor, , fixture] of models) {
    it(`converts streams of ${vendor}`, async () => {
      respond = (_seen, response) => beginStream(vendor, response).end(wholeStream(vendor, fixture));
      const { bytes, headers } = await whole(vendor, { format: 'anthropic' }, streaming);
      equal(headers['content-type'], 'text/event-stream');
      const events = eventsOf(String(bytes));
      equal(textOf(events), 'Hello');
      deepEqual([typesOf(events)[0], typesOf(events).at(-1)], ['message_start', 'message_stop']);
      const { delta, usage } = events.find(({ type }) => type === 'message_delta');
      deepEqual([delta.stop_reason, usage.output_tokens], ['end_turn', 4]);
    });
  }

  it("can be set in ai/llm itself, but a format in the vendor's settings takes precedence", async () => {
    const [vendor, version, fixture] = models.find(([name]) => name === 'openai')!;
    respond = (_seen, response) => beginStream(vendor, response).end(wholeStream(vendor, fixture));
    const with_ = async (own: object) => {
      const backend = modelBackend(testbed.backend.url, vendor, own) as { extra_config: Record<string, object> };
      const extra_config = { 'ai/llm': { format: 'anthropic', ...backend.extra_config['ai/llm'] } };
      const { bytes } = await whole([{ ...backend, extra_config }], {}, streaming);
      await testbed.closeGateways();
      return String(bytes);
    };
    match(await with_({}), /^event: message_start\n/);
    match(await with_({ format: 'openai' }), /"object":"chat.completion.chunk"/);
    equal(await with_({ format: 'native' }), String(wholeStream(vendor, fixture)), version);
  });
});

describe('events of the Messages API', () => {
  const write = (...progress: Progress[]): Event[] => {
    let text = '';
    const writer = new MessageEventWriter(new Call(), 'm', (bytes) => {
      text += Buffer.from(bytes).toString();
    });
    for (const each of progress) writer.add(each);
    writer.end();
    return eventsOf(text);
  };
  const said = (text: string, stop?: string): Progress => ({ deltas: [{ index: 0, text, stop }] });

  it('have one block for all texts and one block for each tool call', () => {
    const call = (key: number, more: { id?: string; name?: string; arguments: string }): Progress => ({
      deltas: [{ index: 0, text: '', call: { key, ...more } }],
    });
    const events = write(
      said('a'),
      said('b'),
      call(7, { id: 'c1', name: 'f', arguments: '{"x"' }),
      call(7, { arguments: ':1}' }),
      call(8, { id: 'c2', name: 'g', arguments: '' }),
      said('', 'tool_use'),
    );
    deepEqual(
      events.map(({ type, index, content_block: block, delta }) => [type, index, block?.name ?? block?.type ?? delta]),
      [
        ['message_start', undefined, undefined],
        ['content_block_start', 0, 'text'],
        ['content_block_delta', 0, { type: 'text_delta', text: 'a' }],
        ['content_block_delta', 0, { type: 'text_delta', text: 'b' }],
        ['content_block_stop', 0, undefined],
        ['content_block_start', 1, 'f'],
        ['content_block_delta', 1, { type: 'input_json_delta', partial_json: '{"x"' }],
        ['content_block_delta', 1, { type: 'input_json_delta', partial_json: ':1}' }],
        ['content_block_stop', 1, undefined],
        ['content_block_start', 2, 'g'],
        ['content_block_stop', 2, undefined],
        ['message_delta', undefined, { stop_reason: 'tool_use', stop_sequence: null }],
        ['message_stop', undefined, undefined],
      ],
    );
  });

  it('contain only the first candidate of the model', () => {
    const events = write({ deltas: [{ index: 1, text: 'other' }] }, said('one', 'length'));
    deepEqual([textOf(events), events.at(-2).delta.stop_reason], ['one', 'max_tokens']);
  });

  it('end with an error event if the model fails or stops early', () => {
    for (const progress of [[said('a'), { deltas: [], failure: 'overloaded' }, said('b', 'stop')], [said('a')]]) {
      const events = write(...progress);
      deepEqual(typesOf(events), ['message_start', 'content_block_start', 'content_block_delta', 'error']);
      equal(events.at(-1).error.type, 'api_error');
    }
  });

  it('escape hostile texts within their JSON', () => {
    const text = '\n\nevent: message_stop\ndata: {}\n\n\u2028"';
    equal(textOf(write(said(text, 'stop'))), text);
  });
});
