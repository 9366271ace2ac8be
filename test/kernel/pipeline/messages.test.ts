import { deepEqual, equal } from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import {
  BackendError,
  ByteStream,
  Call,
  CallError,
  type DataObject,
  HeaderBag,
  type Log,
  type Messages,
  Reply,
} from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { type Looking, withMessages } from '../../../kernel/pipeline/backend/messages.ts';
import { until } from '../../support/conditions.ts';
import { pipeRequest } from './requests.ts';

/** A message is one line of JSON. `!` is invalid framing, and so is an end within a line. */
const lines: Messages = {
  contentType: 'text/lines',
  open(each, emit) {
    let rest = '';
    return {
      write(chunk) {
        rest += Buffer.from(chunk);
        if (rest.includes('!')) throw new CallError('FRAME', 'a broken frame');
        const segments = rest.split('\n');
        rest = segments.pop()!;
        for (const segment of segments) {
          const data = each ? each(JSON.parse(segment) as DataObject) : (JSON.parse(segment) as DataObject);
          if (data) emit(Buffer.from(`${JSON.stringify(data)}\n`));
        }
      },
      end() {
        if (rest !== '') throw new CallError('FRAME', 'an open frame');
      },
    };
  },
};

/** A stream, and the notifications of its source. */
function stream() {
  const reported: string[] = [];
  const body = new ByteStream({
    resume: () => void reported.push('resume'),
    cancel: (reason) => void reported.push(`cancel: ${reason.message}`),
  });
  return { body, told: reported };
}

/** A backend response, split into messages and joined again. */
function taken(reply: Reply, looking: Partial<Looking> = {}) {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warning: (line) => void warnings.push(String(line)) };
  const request = pipeRequest();
  const made = withMessages({ messages: lines, shape: null, hooks: [], ...looking }, () => reply)(
    request,
    new Call(log),
  ) as Reply;
  return { reply: made, warnings, request };
}

const respond = (body: Reply['body'], headers: string[] = [], status = 200) =>
  Reply.raw(status, new HeaderBag(headers), body);

/** The bytes that a reader receives, and how the stream ends. A slow reader pauses the stream after one chunk. */
function read(body: Reply['body'], isFull = false) {
  const got: string[] = [];
  (body as ByteStream).flow({
    write: (chunk) => {
      got.push(String(Buffer.from(chunk)));
      return !isFull;
    },
    end: () => void got.push('end'),
    fail: (error) => void got.push(`fail: ${error.message}`),
  });
  return got;
}

function whole(...chunks: string[]): ByteStream {
  const { body } = stream();
  for (const chunk of chunks) body.write(Buffer.from(chunk));
  body.end();
  return body;
}

describe('the messages of a streamed response', () => {
  it('are also read from bytes that arrived together', () => {
    deepEqual(read(taken(respond(Buffer.from('{"a":1}\n'))).reply.body), ['{"a":1}\n', 'end']);
  });

  it('are not read from a response with a status other than 200, a failure or an empty body', () => {
    const failed = respond(whole('x'));
    failed.errors = [new BackendError('TEST', 'it broke')];
    for (const reply of [respond(whole('x'), [], 201), failed, respond(null)]) {
      const { body } = reply;
      equal(taken(reply).reply.body, body);
      equal(reply.headers.has('content-type'), false);
    }
  });

  it('are not read from a body that cannot be decompressed, which is drained', () => {
    const { body, told: reported } = stream();
    const { reply } = taken(respond(body, ['Content-Encoding', 'constructor']));
    deepEqual(
      reply.errors.map(({ code, message }) => [code, message]),
      [['BACKEND_ENCODING', 'backend: unknown Content-Encoding "constructor"']],
    );
    body.write(Buffer.alloc(70_000));
    deepEqual(reported, ['cancel: context canceled']);
  });

  it('are read under encodings that change nothing, such as identity', () => {
    for (const name of ['identity', ' Identity ', '']) {
      deepEqual(read(taken(respond(whole('{"a":1}\n'), ['Content-Encoding', name])).reply.body), ['{"a":1}\n', 'end']);
    }
  });

  it('pass through every hook until one drops them', () => {
    const seen: unknown[] = [];
    const { reply } = taken(respond(whole('{"a":1}\n{"a":2}\n')), {
      hooks: [
        (data) => (data['a'] === 1 ? null : data),
        (data) => {
          seen.push(data);
          return data;
        },
      ],
    });
    deepEqual([read(reply.body), seen], [['{"a":2}\n', 'end'], [{ a: 2 }]]);
  });

  it('cause one warning if a hook fails on them', () => {
    const { reply, warnings } = taken(respond(whole('{}\n{}\n')), {
      hooks: [
        () => {
          throw new Error('cannot work on that');
        },
      ],
    });
    deepEqual([read(reply.body), warnings], [['end'], ['message dropped: cannot work on that']]);
  });

  it('cause no warning if the response is empty or all messages were dropped', () => {
    for (const [reply, looking] of [
      [respond(whole()), {}],
      [respond(whole('{}\n')), { hooks: [() => null] }],
    ] as const) {
      const { reply: made, warnings } = taken(reply, looking);
      deepEqual([read(made.body), warnings], [['end'], []]);
    }
  });

  it('are read no faster than the client reads', () => {
    const { body, told: reported } = stream();
    const { reply } = taken(respond(body));
    read(reply.body, true);
    equal(body.write(Buffer.from('{"a":')), true);
    equal(body.write(Buffer.from('1}\n')), false);
    deepEqual(reported, []);
    (reply.body as ByteStream).resume();
    deepEqual(reported, ['resume']);
  });

  it('are no longer read when the client disconnects', () => {
    const { body, told: reported } = stream();
    const { reply } = taken(respond(body));
    read(reply.body);
    (reply.body as ByteStream).cancel(new Error('left'));
    deepEqual(reported, ['cancel: left']);
  });

  it('end when the framing is invalid, and the rest is canceled', () => {
    const { body, told: reported } = stream();
    const { reply } = taken(respond(body));
    const got = read(reply.body);
    body.write(Buffer.from('{"a":1}\n'));
    body.write(Buffer.from('!'));
    deepEqual([got, reported], [['{"a":1}\n', 'fail: a broken frame'], ['cancel: a broken frame']]);
  });

  it('end once if the framing is invalid in bytes that have all arrived', () => {
    const { reply, warnings } = taken(respond(whole('!', '{"a":1}\n')));
    deepEqual([read(reply.body), warnings], [['fail: a broken frame'], []]);
  });

  it('end with an error if the bytes end within a message', () => {
    deepEqual(read(taken(respond(whole('{"a":'))).reply.body), ['fail: an open frame']);
  });

  it('end with the error of the byte stream', () => {
    const { body } = stream();
    const { reply } = taken(respond(body));
    const got = read(reply.body);
    body.fail(new Error('reset'));
    deepEqual(got, ['fail: reset']);
  });
});

describe('the compressed bytes of a streamed response', () => {
  const packed = (body: ByteStream) => taken(respond(body, ['Content-Encoding', 'X-GZIP'])).reply.body as ByteStream;
  const text = `${JSON.stringify({ a: 'x'.repeat(200_000) })}\n`;

  it('are decompressed no faster than the client reads', async () => {
    const { body } = stream();
    const output = packed(body);
    let got = 0;
    let ended = false;
    output.flow({
      write(chunk) {
        got += chunk.length;
        setImmediate(() => output.resume());
        return false;
      },
      end: () => {
        ended = true;
      },
      fail() {},
    });
    for (let times = 0; times < 20; times++) body.write(gzipSync(text));
    body.end();
    await until(() => ended);
    equal(got, 20 * text.length);
  });

  it('are requested again once the previous ones are decompressed', async () => {
    const { body, told: reported } = stream();
    const got = read(packed(body));
    const bytes = gzipSync(Buffer.from(Array.from({ length: 40_000 }, (_, at) => `{"a":${at * 7919}}\n`).join('')));
    equal(body.write(bytes), false);
    await until(() => reported.includes('resume'));
    body.end();
    await until(() => got.at(-1) === 'end');
  });

  it('are no longer read when the client disconnects', () => {
    const { body, told: reported } = stream();
    packed(body).cancel(new Error('left'));
    deepEqual(reported, ['cancel: left']);
  });

  it('are no longer read if they are invalid', async () => {
    const { body, told: reported } = stream();
    const got = read(packed(body));
    body.write(Buffer.from('no gzip at all'));
    await until(() => reported.length > 0);
    deepEqual(got, ['fail: backend: body is not valid x-gzip: incorrect header check']);
    deepEqual(reported, ['cancel: backend: body is not valid x-gzip: incorrect header check']);
  });

  it('end with the error of their source', () => {
    const { body } = stream();
    const got = read(packed(body));
    body.fail(new Error('reset'));
    deepEqual(got, ['fail: reset']);
  });
});
