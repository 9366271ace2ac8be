import { deepEqual, equal, ok } from 'node:assert/strict';
import type OpenAI from 'openai';
import { json } from '../../../support/gateway.ts';
import { beginStream, models, wholeStream } from '../../../support/models.ts';
import { useChatTestbed } from './setup.ts';

const messages = [
  { role: 'system', content: 'be brief' },
  { role: 'user', content: 'hi' },
] satisfies OpenAI.ChatCompletionMessageParam[];

describe('ai/chat-completions with the official OpenAI client', () => {
  const suite = useChatTestbed();

  for (const [vendor, , fixture] of models) {
    describe(`and a model from ${vendor}`, () => {
      it('returns one completion object for a request without "stream"', async () => {
        suite.respond = json(fixture.answer);
        const completion = await suite.client.chat.completions.create({ model: vendor, messages });
        deepEqual(suite.testbed.received(), fixture.payload);
        equal(suite.testbed.backend.requests.at(-1)!.target, fixture.url_pattern);
        equal(completion.object, 'chat.completion');
        equal(completion.model, vendor);
        const { message, finish_reason: reason, index } = completion.choices[0]!;
        const { contents } = (fixture.unified as { ai_gateway_response: { contents: string[] }[] })
          .ai_gateway_response[0]!;
        deepEqual([message.role, message.content, reason, index], ['assistant', contents.join(''), 'stop', 0]);
        const { prompt_tokens: prompt, completion_tokens: answer, total_tokens: total } = completion.usage!;
        deepEqual([total, prompt + answer], [7, 7]);
      });

      it('streams the completion from the same endpoint, with usage data if requested', async () => {
        suite.respond = (_seen, response) => beginStream(vendor, response).end(wholeStream(vendor, fixture));
        const options = { model: vendor, messages, stream: true } as const;
        const read = async (more: object) => {
          const chunks: OpenAI.ChatCompletionChunk[] = [];
          for await (const chunk of await suite.client.chat.completions.create({ ...options, ...more }))
            chunks.push(chunk);
          const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
          const reason = chunks.findLast(({ choices }) => choices[0]?.finish_reason)?.choices[0]?.finish_reason;
          return [text, reason, chunks.find(({ usage }) => usage)?.usage?.total_tokens, chunks[0]!.model];
        };
        deepEqual(await read({}), ['Hello', 'stop', undefined, vendor]);
        equal(suite.testbed.backend.requests.at(-1)!.target, fixture.stream.target);
        deepEqual(suite.testbed.received(), { ...fixture.payload, ...fixture.stream.sends });
        deepEqual(await read({ stream_options: { include_usage: true } }), ['Hello', 'stop', 7, vendor]);
      });

      it("sends the gateway's credentials to the vendor, not the client's", async () => {
        suite.respond = json(fixture.answer);
        await suite.client.chat.completions.create({ model: vendor, messages });
        const { headers } = suite.testbed.backend.requests.at(-1)!;
        for (const [name, value] of Object.entries(fixture.headers)) equal(headers[name], value);
        ok(!JSON.stringify(headers).includes('of-the-client'));
      });

      it("sends request parameters under the vendor's names, overriding the configured variables", async () => {
        suite.respond = json(fixture.answer);
        await suite.client.chat.completions.create({
          model: vendor,
          messages,
          max_completion_tokens: 33,
          temperature: 0.25,
          top_p: 0.5,
          stop: ['END'],
        });
        const sent = JSON.stringify(suite.testbed.received());
        for (const part of [':33', ':0.25', ':0.5']) ok(sent.includes(part), sent);
        // Vendors with the Responses API do not receive stop sequences, which it does not support.
        equal(sent.includes('["END"]'), !['openai', 'alibaba'].includes(vendor), sent);
      });
    });
  }

  it('cuts the text at a stop sequence that spans two stream messages, for a vendor without stop sequences', async () => {
    const [, , fixture] = models.find(([vendor]) => vendor === 'openai')!;
    suite.respond = (_seen, response) => beginStream('openai', response).end(wholeStream('openai', fixture));
    let text = '';
    const stream = await suite.client.chat.completions.create({ model: 'openai', messages, stop: 'llo', stream: true });
    const reasons: unknown[] = [];
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      if (choices[0]?.finish_reason) reasons.push(choices[0].finish_reason);
    }
    deepEqual([text, reasons], ['He', ['stop']]);
    suite.respond = json({ output: [{ type: 'message', content: [{ type: 'output_text', text: 'one END two' }] }] });
    const whole = await suite.client.chat.completions.create({ model: 'openai', messages, stop: ['two', ' END'] });
    equal(whole.choices[0]!.message.content, 'one');
    ok(!('stop' in suite.testbed.received()));
  });

  it('lists the models and describes a single model', async () => {
    const list = await suite.client.models.list();
    deepEqual(
      list.data.map(({ id, owned_by: owner, object }) => [id, owner, object]),
      models.map(([vendor]) => [vendor, vendor, 'model']),
    );
    equal((await suite.client.models.retrieve('anthropic')).id, 'anthropic');
  });
});
