import { deepEqual, equal, ok } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import { ByteStream, HeaderBag, type PipeRequest, Reply } from '#contract';
import { type Harness, type HarnessOptions, openHarness } from '../../../../kernel/testing/index.ts';
import { plugin } from '../../../../plugins/ai/redaction/index.ts';
import { countingMeter } from '../../../support/counting.ts';
import { findingsOf } from '../../auth/fixture.ts';

const mail = 'ada@example.com';
const prompt = { messages: [{ role: 'user', content: `I am ${mail}, not bob@example.com` }], n: 1.0 };

describe('ai/redaction', () => {
  let harness: Harness | undefined;
  let sent: string;
  let reply: () => Reply;

  beforeEach(() => {
    sent = '';
    reply = () => Reply.data({ ok: true });
  });
  afterEach(async () => {
    const counts = await harness?.close();
    harness = undefined;
    if (counts) deepEqual(counts, { kept: 0, deferred: 0 });
  });

  const open = async (config: object = {}, options: HarnessOptions = {}) => {
    const next = async (request: PipeRequest) => {
      sent = Buffer.from((await request.body?.bytes()) ?? []).toString();
      return reply();
    };
    harness = await openHarness(plugin, 'endpoint', config, { next, ...options });
  };
  const send = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    harness!.send({ method: 'POST', body, headers } as never);
  const raw = (text: string | Uint8Array, contentType: string, more: string[] = []) =>
    Reply.raw(200, new HeaderBag(['Content-Type', contentType, ...more]), Buffer.from(text));
  const bodyOf = async ({ body }: Reply) =>
    Buffer.from(body instanceof Uint8Array ? body : await body!.collect(1e6)).toString();

  /** A stream whose pieces arrive one by one. */
  function streamed(contentType: string, pieces: readonly string[]): Reply {
    const stream = new ByteStream();
    const result = Reply.raw(200, new HeaderBag(['Content-Type', contentType]), stream);
    queueMicrotask(() => {
      for (const piece of pieces) stream.write(Buffer.from(piece));
      stream.end();
    });
    return result;
  }

  it('replaces values in the strings of JSON and leaves all other bytes', async () => {
    await open();
    await send(`{ "a" : "${mail}",\n "n": 1.0e2, "big":12345678901234567890, "\\u0061": "a\\u0064a@example.com" }`);
    equal(sent, '{ "a" : "[EMAIL_1]",\n "n": 1.0e2, "big":12345678901234567890, "\\u0061": "[EMAIL_1]" }');
  });

  it('replaces values in plain text and forms', async () => {
    await open();
    await send(`I am ${mail}`, { 'content-type': 'text/plain' });
    equal(sent, 'I am [EMAIL_1]');
    await send('who=ada%40example.com&x=1', { 'content-type': 'application/x-www-form-urlencoded' });
    equal(sent, 'who=%5BEMAIL_1%5D&x=1');
  });

  it('does not search images in base64', async () => {
    await open();
    const body = JSON.stringify({ url: `data:image/png;base64,4111111111111111`, text: '4111111111111111' });
    await send(body);
    equal(sent, body.replace(/"4111111111111111"/, '"[CARD_1]"'));
  });

  it('replaces only the configured kinds, and matches of user-defined patterns first', async () => {
    await open({
      kinds: ['phone'],
      patterns: [
        { name: 'employee', pattern: '\\bE-\\d{6}\\b' },
        { name: 'digit', pattern: '\\d' },
      ],
    });
    await send(`E-123456 ${mail} 7`);
    equal(sent, `[EMPLOYEE_1] ${mail} [DIGIT_1]`);
  });

  it('does not restore placeholders that the client has written itself', async () => {
    await open();
    reply = () => Reply.data({ text: '[EMAIL_1] and [EMAIL_2] and [EMAIL_3]' });
    const { data } = await send(`[EMAIL_1] is not ${mail}`);
    equal(sent, '[EMAIL_1] is not [EMAIL_2]');
    deepEqual(data, { text: `[EMAIL_1] and ${mail} and [EMAIL_3]` });
  });

  it('restores values in the data of the response', async () => {
    await open();
    reply = () => Reply.data({ choices: [{ text: 'Hello [EMAIL_1], [EMAIL_2]', '[EMAIL_1]': 1 }], n: 2 });
    const { data } = await send(JSON.stringify(prompt));
    deepEqual(data, { choices: [{ text: `Hello ${mail}, bob@example.com`, [mail]: 1 }], n: 2 });
  });

  it('restores values in data that is nested deeply, or has a key named __proto__', async () => {
    await open();
    let data = JSON.parse('{"__proto__":["[EMAIL_1]"]}');
    for (let depth = 0; depth < 100_000; depth++) data = { a: data };
    reply = () => Reply.data(data);
    let { data: inner } = (await send(JSON.stringify(prompt))) as { data: unknown };
    for (let depth = 0; depth < 100_000; depth++) inner = (inner as { a: unknown }).a;
    equal(JSON.stringify(inner), `{"__proto__":["${mail}"]}`);
  });

  it('restores values in undecoded responses, escaped as JSON, and removes headers that no longer match the bytes', async () => {
    await open({ patterns: [{ name: 'quoted', pattern: '"[^"]*"' }] });
    reply = () => raw('{"a":"[QUOTED_1]"}', 'application/json', ['Content-Length', '18', 'ETag', '"a"']);
    const response = await send('say "x"', { 'content-type': 'text/plain' });
    equal(await bodyOf(response), '{"a":"\\"x\\""}');
    deepEqual([response.headers.has('content-length'), response.headers.has('etag')], [false, false]);
  });

  for (const [what, make] of [
    ['binary', () => raw(Buffer.from([0xff, 0x5b]), 'image/png')],
    ['compressed', () => raw(gzipSync('[EMAIL_1]'), 'application/json', ['Content-Encoding', 'br'])],
  ] as const) {
    it(`passes ${what} responses unchanged`, async () => {
      await open();
      reply = make;
      const { body } = await send(mail);
      deepEqual(body, make().body);
    });
  }

  it('requests responses without compression', async () => {
    let headers: HeaderBag | undefined;
    await open(
      {},
      {
        next: (request) => {
          headers = request.headers;
          return Reply.data({});
        },
        endpoint: { input_headers: ['*'] },
      },
    );
    await send(mail, { 'accept-encoding': 'br' });
    equal(headers!.has('accept-encoding'), false);
  });

  it('leaves placeholders in responses if restore is false', async () => {
    await open({ restore: false });
    reply = () => Reply.data({ text: '[EMAIL_1]' });
    deepEqual((await send(mail)).data, { text: '[EMAIL_1]' });
  });

  describe('in streams', () => {
    const text = `Dear [EMAIL_1], [x] [EMAIL_ and [EMAIL_2]!`;
    const restored = `Dear ${mail}, [x] [EMAIL_ and bob@example.com!`;
    const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
    const events = (body: string) =>
      body
        .split('\n\n')
        .filter((part) => part.includes('data: {'))
        .map((part) => JSON.parse(part.slice(part.indexOf('{'))));

    for (const size of [1, 2, 3, 5, 7, 100]) {
      it(`restores placeholders that are split over chat completion chunks of ${size} characters`, async () => {
        await open();
        const parts = text.match(new RegExp(`.{1,${size}}`, 'g'))!;
        const chunk = (content: string) => event({ id: 'c', choices: [{ index: 0, delta: { content } }] });
        const last = event({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
        reply = () => streamed('text/event-stream', [...parts.map(chunk), last, 'data: [DONE]\n\n']);
        const body = await bodyOf(await send(JSON.stringify(prompt)));
        const all = events(body);
        equal(all.map(({ choices: [{ delta }] }) => delta.content ?? '').join(''), restored);
        equal(all.at(-1)!.choices[0].finish_reason, 'stop');
        ok(body.endsWith('data: [DONE]\n\n'));
      });
    }

    it('restores placeholders in events whose bytes are split anywhere', async () => {
      await open();
      const all = [...text].map((content) => event({ choices: [{ index: 0, delta: { content: `${content}ü` } }] }));
      const bytes = Buffer.from(all.join(''));
      const stream = new ByteStream();
      reply = () => Reply.raw(200, new HeaderBag(['Content-Type', 'text/event-stream']), stream);
      const response = await send(mail);
      for (const byte of bytes) stream.write(Buffer.from([byte]));
      stream.end();
      equal(
        events(await bodyOf(response))
          .map(({ choices: [{ delta }] }) => delta.content)
          .join(''),
        [...text].join('ü').concat('ü'),
      );
    });

    it('restores placeholders in several alternative responses whose events alternate', async () => {
      await open();
      const part = (index: number, content: string) => event({ choices: [{ index, delta: { content } }] });
      reply = () =>
        streamed('text/event-stream', [part(0, 'a [EM'), part(1, 'b [EMAIL'), part(0, 'AIL_1]'), part(1, '_2] c')]);
      const texts = ['', ''];
      for (const { choices } of events(await bodyOf(await send(JSON.stringify(prompt))))) {
        texts[choices[0].index] += choices[0].delta.content;
      }
      deepEqual(texts, [`a ${mail}`, 'b bob@example.com c']);
    });

    it("restores placeholders in events of Anthropic's Messages API, and sends retained text before the end of its block", async () => {
      await open();
      const delta = (value: string) =>
        `event: content_block_delta\n${event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: value } })}`;
      const stop = `event: content_block_stop\n${event({ type: 'content_block_stop', index: 0 })}`;
      reply = () => streamed('text/event-stream', [delta('Hi [EMA'), delta('IL_1] and [EMA'), stop]);
      const body = await bodyOf(await send(mail));
      equal(body, [delta('Hi '), delta(`${mail} and `), delta('[EMA'), stop].join(''));
    });

    it('passes events without placeholders unchanged', async () => {
      await open();
      const stream = 'event: a\r\nid: 1\r\ndata: {"n": 1.0}\r\n\r\n: comment\n\ndata: x\ndata: y\n\n';
      reply = () => streamed('text/event-stream', [stream]);
      equal(await bodyOf(await send(mail)), stream);
    });

    it('restores placeholders that are interrupted by pieces of other texts', async () => {
      await open();
      reply = () => streamed('application/x-ndjson', [...'{"a":"[EMAIL_1]"}\n{"a":"[EMAIL_"}\n']);
      equal(await bodyOf(await send(mail)), `{"a":"${mail}"}\n{"a":"[EMAIL_"}\n`);
    });

    it('keeps the exact digits of numbers', async () => {
      await open();
      reply = () => streamed('text/event-stream', ['data: {"a":"[EMAIL_1]","n":12345678901234567890}\n\n']);
      equal(await bodyOf(await send(mail)), `data: {"a":"${mail}","n":12345678901234567890}\n\n`);
    });

    it('forwards events that never end without storing them', async () => {
      await open();
      const long = `data: ${'x'.repeat(300_000)}`;
      reply = () => streamed('text/event-stream', [long, ' [EMAIL_1]\n\n']);
      equal(await bodyOf(await send(mail)), `${long} ${mail}\n\n`);
    });
  });

  for (const [what, headers] of [
    ['in an unknown compression', { 'content-encoding': 'snappy' }],
    ['in UTF-16', { 'content-type': 'text/plain; charset=utf-16' }],
  ] as const) {
    it(`rejects bodies ${what} with 415, because personal data in them cannot be found`, async () => {
      await open();
      deepEqual([(await send(mail, headers)).status, sent], [415, '']);
    });
  }

  it('redacts the requests of single backends', async () => {
    const next = async (request: PipeRequest) => {
      sent = Buffer.from(await request.body!.bytes()).toString();
      return Reply.data({ text: '[EMAIL_1]' });
    };
    harness = await openHarness(plugin, 'backend', {}, { next, backend: { method: 'POST' } });
    const { data } = await send(mail);
    deepEqual([sent, data], ['[EMAIL_1]', { text: mail }]);
  });

  it('counts replaced values by kind, each distinct value once', async () => {
    const { counts, offers } = countingMeter();
    await open({}, { offers });
    await send(`${mail} ${mail} bob@example.com`);
    deepEqual([...counts], [['redaction.values', 2]]);
  });

  it('passes requests without a body', async () => {
    await open();
    equal((await harness!.send('GET /' as never)).status, 200);
  });

  describe('in the configuration check', () => {
    for (const [config, finding] of [
      [{ patterns: [{ name: 'email', pattern: 'a' }] }, 'REDACTION_NAME /patterns/0/name'],
      [{ patterns: [1, 2].map(() => ({ name: 'a', pattern: 'a' })) }, 'REDACTION_NAME /patterns/1/name'],
      [{ patterns: [{ name: 'a', pattern: '(' }] }, 'PATTERN_INVALID /patterns/0/pattern'],
    ] as const) {
      it(`rejects ${JSON.stringify(config)}`, async () =>
        deepEqual(await findingsOf(openHarness(plugin, 'endpoint', config)), [finding]));
    }
  });
});
