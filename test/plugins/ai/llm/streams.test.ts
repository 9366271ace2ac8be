import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Answering } from '../../../support/gateway.ts';
import { beginStream, models, streamed, wholeStream } from '../../../support/models.ts';
import { eventually, openStream, type StreamedResponse } from '../../../support/stream-client.ts';
import { ModelTestbed, modelBackend, modelOf } from './fixture.ts';

const prompt = '{"contents":"hi","instructions":"be brief"}';
const typed = { 'content-type': 'application/json' };
const streaming = { output_encoding: 'streaming' };

/** The data of server-sent events. */
function dataOf(bytes: Buffer): unknown[] {
  const lines = String(bytes)
    .split('\n')
    .filter((line) => line.startsWith('data: '));
  return lines.map((line) => (line === 'data: [DONE]' ? '[DONE]' : JSON.parse(line.slice(6))));
}

interface Chunk {
  object: string;
  model: string;
  choices: { index: number; delta: { role?: string; content?: string }; finish_reason: string | null }[];
  usage?: object;
}

describe('ai/llm with streams', () => {
  let testbed: ModelTestbed;
  let respond: Answering;

  before(async () => {
    testbed = await ModelTestbed.open((seen, response) => respond(seen, response));
  });
  afterEach(() => testbed.closeGateways());
  after(() => testbed.close());

  const open = async (...given: Parameters<ModelTestbed['serve']>): Promise<StreamedResponse> => {
    const gateway = await testbed.serve(...given);
    const { port } = await gateway.listen();
    return openStream(port, '/ask', typed, prompt);
  };
  const whole = async (...given: Parameters<ModelTestbed['serve']>) => {
    const stream = await open(...given);
    const clean = await stream.ended();
    return Object.assign(stream, { clean });
  };
  const sends = (vendor: string, bytes: Uint8Array, headers: Record<string, string> = {}): void => {
    respond = (_seen, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      beginStream(vendor, response).end(bytes);
    };
  };

  for (const [vendor, , fixture] of models) {
    describe(`from ${vendor}`, () => {
      it("requests a stream and forwards the vendor's messages in the vendor's framing", async () => {
        sends(vendor, wholeStream(vendor, fixture));
        const { bytes, headers, clean, status } = await whole(vendor, {}, streaming);
        const { target, body } = testbed.backend.requests.at(-1)!;
        deepEqual(
          [target, JSON.parse(String(body))],
          [fixture.stream.target, { ...fixture.payload, ...fixture.stream.sends }],
        );
        equal(
          headers['content-type'],
          vendor === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream',
        );
        deepEqual([status, clean, String(bytes)], [200, true, String(wholeStream(vendor, fixture))]);
      });

      it('converts the stream to chat completion chunks that end with the usage and [DONE]', async () => {
        sends(vendor, wholeStream(vendor, fixture));
        const { bytes, headers, clean } = await whole(vendor, { format: 'openai' }, streaming);
        equal(headers['content-type'], 'text/event-stream');
        const data = dataOf(bytes);
        equal(data.pop(), '[DONE]');
        const chunks = data as Chunk[];
        const text = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('');
        const reasons = chunks.flatMap(({ choices }) => choices.map((choice) => choice.finish_reason));
        deepEqual(
          [clean, text, chunks[0]!.choices[0]!.delta.role, reasons.filter((reason) => reason !== null)],
          [true, 'Hello', 'assistant', ['stop']],
        );
        deepEqual(chunks.at(-1)!.usage, { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
        ok(chunks.every(({ object, model }) => object === 'chat.completion.chunk' && model !== ''));
      });

      it('forwards each token before the vendor sends the next one', async () => {
        let vendorSide: ServerResponse | undefined;
        respond = (_seen, response) => {
          vendorSide = beginStream(vendor, response);
          vendorSide.flushHeaders();
        };
        const { messages } = fixture.stream;
        const first = messages.findIndex(({ data }) => JSON.stringify(data).includes('"Hel"'));
        const pending = open(vendor, { format: 'openai' }, streaming);
        await eventually(() => vendorSide !== undefined);
        for (const message of messages.slice(0, first + 1)) vendorSide!.write(streamed(vendor, message));
        const stream = await pending;
        await stream.until('"content":"Hel"');
        ok(!String(stream.bytes).includes('"lo"'));
        for (const message of messages.slice(first + 1)) vendorSide!.write(streamed(vendor, message));
        vendorSide!.end();
        await stream.until('[DONE]');
        equal(await stream.ended(), true);
      });

      it('parses messages regardless of how the stream is split into chunks', async () => {
        const bytes = wholeStream(vendor, fixture);
        respond = async (_seen, response) => {
          beginStream(vendor, response);
          for (const byte of bytes) response.write(Buffer.from([byte]));
          response.end();
        };
        const stream = await whole(vendor, { format: 'openai' }, streaming);
        equal(dataOf(stream.bytes).at(-1), '[DONE]');
      });

      const { broken, code } = fixture.stream;
      if (broken) {
        it('reports a failed model and omits [DONE]', async () => {
          sends(
            vendor,
            Buffer.concat([
              wholeStream(vendor, {
                ...fixture,
                stream: { ...fixture.stream, messages: fixture.stream.messages.slice(0, 1) },
              }),
              streamed(vendor, broken),
            ]),
          );
          const { bytes } = await whole(vendor, { format: 'openai' }, streaming);
          const last = dataOf(bytes).at(-1) as { error?: { code: string } };
          equal(last.error?.code, code);
          ok(!String(bytes).includes('secret words'));
          const line = testbed.lines.find((each) => each.includes('the stream failed'))!;
          ok(line.includes(`code ${code}`) && !line.includes('secret words'), line);
        });
      }
    });
  }

  it("reports a failure as a code only; the vendor's error text reaches neither the log nor the client", async () => {
    const { fixture } = modelOf('openai');
    for (const code of ['a\nERROR made up', 'sk-secret words', 'x'.repeat(101)]) {
      sends('openai', streamed('openai', { ...fixture.stream.messages[0]!, data: { type: 'error', code } }));
      const { bytes } = await whole('openai', { format: 'openai' }, streaming);
      const last = dataOf(bytes).at(-1) as { error?: { code: string } };
      equal(last.error?.code, 'error');
      const line = testbed.lines.find((each) => each.includes('the stream failed'))!;
      ok(line.includes('code error') && !testbed.lines.join('').includes(code), line);
    }
  });

  it("accepts the names of the stream's own encoding, sse and eventstream, as output_encoding", async () => {
    const { fixture } = modelOf('bedrock');
    sends('bedrock', wholeStream('bedrock', fixture));
    const frames = await whole('bedrock', {}, { output_encoding: 'eventstream' });
    deepEqual(String(frames.bytes), String(wholeStream('bedrock', fixture)));
    const chunks = await whole('bedrock', { format: 'openai' }, { output_encoding: 'sse' });
    equal(dataOf(chunks.bytes).at(-1), '[DONE]');
  });

  it('streams if the root\'s output_encoding is "streaming"', async () => {
    const { fixture } = modelOf('openai');
    sends('openai', wholeStream('openai', fixture));
    const { headers } = await whole('openai', {}, {}, {}, { output_encoding: 'streaming' });
    equal(headers['content-type'], 'text/event-stream');
  });

  it('applies allow lists to the messages of a stream', async () => {
    const { fixture } = modelOf('gemini');
    sends('gemini', wholeStream('gemini', fixture));
    const { bytes } = await whole('gemini', {}, streaming, { allow: ['usageMetadata.totalTokenCount'] });
    deepEqual(dataOf(bytes), [{ usageMetadata: { totalTokenCount: 5 } }, { usageMetadata: { totalTokenCount: 7 } }]);
  });

  it('passes the messages of a stream to conditions and expressions of the endpoint', async () => {
    const { fixture } = modelOf('gemini');
    sends('gemini', wholeStream('gemini', fixture));
    const extra_config = {
      'validation/cel': [{ check_expr: 'resp_data.usageMetadata.totalTokenCount > 5.0' }],
      'modifier/jmespath': { expr: '{usageMetadata: usageMetadata}' },
    };
    const { bytes } = await whole('gemini', {}, { ...streaming, extra_config });
    deepEqual(
      dataOf(bytes).map(
        (data) => (data as { usageMetadata: { totalTokenCount: number } }).usageMetadata.totalTokenCount,
      ),
      [7],
    );
  });

  it('keeps the texts of several candidates of one message separate', async () => {
    const part = (index: number, text: string, finishReason?: string) => ({
      content: { parts: [{ text }] },
      index,
      finishReason,
    });
    const message = { data: { candidates: [part(0, 'a'), part(1, 'b', 'MAX_TOKENS')] } };
    sends('gemini', streamed('gemini', message));
    const { bytes } = await whole('gemini', { format: 'openai' }, streaming);
    const [texts, ends] = dataOf(bytes) as Chunk[];
    deepEqual(
      [...texts!.choices, ...ends!.choices].map(({ index, delta, finish_reason: reason }) => [
        index,
        delta.content,
        reason,
      ]),
      [
        [0, 'a', null],
        [1, 'b', null],
        [1, undefined, 'length'],
      ],
    );
  });

  it('forwards responses with an error status together with their body, and logs the code of the error', async () => {
    const { status, body, code, headers } = modelOf('anthropic').fixture.failure;
    respond = (_seen, response) => response.writeHead(status, headers).end(JSON.stringify(body));
    const stream = await whole('anthropic', { format: 'openai' }, streaming);
    deepEqual([stream.status, JSON.parse(String(stream.bytes))], [status, body]);
    ok(testbed.lines.some((line) => line.includes(`status ${status}, code ${code}`)));
  });

  it('rejects a request without a prompt before calling the vendor', async () => {
    const gateway = await testbed.serve('openai', {}, streaming);
    const requested = testbed.backend.requests.length;
    const { statusCode } = await gateway.inject({ method: 'POST', url: '/ask', headers: typed, payload: '{}' });
    deepEqual([statusCode, testbed.backend.requests.length], [400, requested]);
  });

  it("omits [DONE] if the stream ends before the vendor's last message", async () => {
    const { fixture } = modelOf('anthropic');
    sends(
      'anthropic',
      Buffer.concat(fixture.stream.messages.slice(0, 4).map((message) => streamed('anthropic', message))),
    );
    const { bytes } = await whole('anthropic', { format: 'openai' }, streaming);
    ok(!String(bytes).includes('[DONE]') && String(bytes).includes('"Hel"'));
    ok(testbed.lines.some((line) => line.includes('ended before its last message')));
  });

  it("aborts the response if the vendor's framing is corrupt or its connection breaks", async () => {
    const bytes = Buffer.from(wholeStream('bedrock', modelOf('bedrock').fixture));
    bytes[bytes.length - 1]! ^= 1;
    sends('bedrock', bytes);
    equal((await whole('bedrock', { format: 'openai' }, streaming)).clean, false);
    ok(testbed.lines.some((line) => line.includes('wrong checksum')));
    respond = (_seen, response) => {
      beginStream('openai', response).write(streamed('openai', modelOf('openai').fixture.stream.messages[1]!));
      setImmediate(() => response.destroy());
    };
    equal((await whole('openai', { format: 'openai' }, streaming)).clean, false);
  });

  it('rejects a stream message larger than 1 MiB', async () => {
    sends('openai', Buffer.from(`data: {"type":"${'x'.repeat(1024 * 1024)}"}\n\n`));
    equal((await whole('openai', { format: 'openai' }, streaming)).clean, false);
    ok(testbed.lines.some((line) => line.includes('message larger than')));
  });

  it('rejects a compressed stream and requests the identity encoding', async () => {
    sends('openai', gzipSync(wholeStream('openai', modelOf('openai').fixture)), { 'Content-Encoding': 'gzip' });
    equal((await whole('openai', { format: 'openai' }, streaming)).status, 500);
    equal(testbed.backend.requests.at(-1)!.headers['accept-encoding'], 'identity');
  });

  it("pauses the vendor's stream while the client does not read, and cancels it when the client disconnects", async () => {
    let stopped = false;
    let closed = false;
    const message = streamed('openai', { data: { type: 'response.output_text.delta', delta: 'x'.repeat(60_000) } });
    let sent = 0;
    respond = (_seen, response) => {
      beginStream('openai', response);
      const push = (): void => {
        while (sent < 200_000_000) {
          sent += message.length;
          if (response.write(message)) continue;
          stopped = true;
          response.once('drain', push);
          return;
        }
      };
      push();
      response.once('close', () => {
        closed = true;
      });
    };
    const gateway = await testbed.serve('openai', { format: 'openai' }, { ...streaming, timeout: '60s' });
    const { port } = await gateway.listen();
    const { connect } = await import('node:net');
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write(`POST /ask HTTP/1.1\r\nHost: a\r\nContent-Length: ${prompt.length}\r\n\r\n${prompt}`);
    await eventually(() => stopped);
    const before = sent;
    for (let turns = 0; turns < 200; turns++) await new Promise(setImmediate);
    ok(sent < 100_000_000, `${before} and then ${sent} bytes for a client that reads nothing`);
    socket.destroy();
    await eventually(() => closed);
  });

  it('selects a vendor by a request header, with the same stream format for all vendors', async () => {
    respond = ({ target }, response) => {
      const [vendor, , fixture] = models.find(([, , { stream }]) => stream.target === target)!;
      beginStream(vendor, response).end(wholeStream(vendor, fixture));
    };
    const { url } = testbed.backend;
    const when = (condition: object) => ({ extra_config: { 'backend/conditional': condition } });
    const backends = [
      modelBackend(
        url,
        'bedrock',
        { format: 'openai' },
        when({ strategy: 'header', name: 'X-Model', value: 'bedrock' }),
      ),
      modelBackend(url, 'anthropic', { format: 'openai' }, when({ strategy: 'fallback' })),
    ];
    const gateway = await testbed.serve(backends, {}, { ...streaming, input_headers: ['X-Model'] });
    const { port } = await gateway.listen();
    const modelFor = async (headers: Record<string, string>) => {
      const stream = await openStream(port, '/ask', { ...typed, ...headers }, prompt);
      await stream.ended();
      return (dataOf(stream.bytes)[0] as Chunk).model;
    };
    deepEqual([await modelFor({ 'x-model': 'bedrock' }), await modelFor({})], ['nova-x', 'claude-x']);
  });
});
