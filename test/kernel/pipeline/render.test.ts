import { deepEqual, equal } from 'node:assert/strict';
import { ByteStream, CallError, type Encoding, HeaderBag, makeRequest, Reply, refuse } from '#contract';
import type { Route } from '../../../kernel/pipeline/compile/route.ts';
import { createRendering, type RenderedReply, render, renderPlain } from '../../../kernel/pipeline/response/render.ts';

const names = {
  header: 'X-Gateway',
  completed: 'X-Gateway-Completed',
  version: 'Version 1',
  agent: 'Sluice Version 1',
};
const rendering = { names, errorMessages: false };
const withMessages = { ...rendering, errorMessages: true };

const text: Encoding = {
  name: 'text',
  encode: (data, accept) => ({ contentType: `text/${accept ?? 'plain'}`, body: JSON.stringify(data) }),
};
const raw: Encoding = { name: 'raw', raw: true };
const streaming: Encoding = { name: 'streaming', raw: true, streams: true };

/** The response that is written for a reply: status, headers and body. */
function written(
  reply: Reply,
  { output = text, ttlMs = 0, told: reported = rendering, headers = [] as string[] } = {},
) {
  const route = { output, endpoint: { cache_ttl: ttlMs } } as Route;
  return shown(render(reply, route, makeRequest({ headers: new HeaderBag(headers) }), reported));
}

function shown({ status, headers, body }: RenderedReply) {
  const pairs = Array.from({ length: headers.length / 2 }, (_, at) => `${headers[2 * at]}: ${headers[2 * at + 1]}`);
  return [status, ...pairs, body];
}

const data = (complete: boolean | null = true, value: object = { a: 1 }): Reply => {
  const reply = Reply.data(value as never);
  reply.complete = complete;
  return reply;
};
const failure = (...errors: CallError[]): Reply => Reply.failed(...errors);
const broken = new CallError('TEST', 'it broke');

describe('the response of a decoding endpoint', () => {
  it("is the data in the output encoding, which can depend on the client's Accept header", () => {
    deepEqual(written(data()), [
      200,
      'Content-Type: text/plain',
      'X-Gateway: Version 1',
      'X-Gateway-Completed: true',
      '{"a":1}',
    ]);
    equal(written(data(), { headers: ['Accept', 'x'] })[1], 'Content-Type: text/x');
  });

  it('keeps the Content-Type that a component has set', () => {
    const reply = data();
    reply.headers.set('Content-Type', 'text/own');
    deepEqual(written(reply).slice(1, 3), ['Content-Type: text/own', 'X-Gateway: Version 1']);
  });

  it('is complete only with at least one key', () => {
    equal(written(data(true, {})).at(-2), 'X-Gateway-Completed: false');
    equal(written(data(false)).at(-2), 'X-Gateway-Completed: false');
    equal(written(Reply.data(null, true)).at(-2), 'X-Gateway-Completed: false');
  });

  it('has no completion header if no backend was required', () => {
    deepEqual(written(data(null)), [200, 'Content-Type: text/plain', 'X-Gateway: Version 1', '{"a":1}']);
  });

  it('has Cache-Control if it is complete and has none already', () => {
    const ttlMs = 61_999;
    equal(written(data(), { ttlMs }).at(-2), 'Cache-Control: public, max-age=61');
    equal(written(data(false), { ttlMs }).at(-2), 'X-Gateway-Completed: false');
    const reply = data();
    reply.headers.set('Cache-Control', 'no-store');
    deepEqual(
      written(reply, { ttlMs }).filter((segment) => String(segment).startsWith('Cache-Control')),
      ['Cache-Control: no-store'],
    );
  });

  it('consists of the bytes if a component sets bytes instead of data', () => {
    const reply = Reply.raw(201, new HeaderBag(['X-A', '1']), Buffer.from('bytes'));
    reply.complete = true;
    deepEqual(written(reply, { ttlMs: 1000 }), [
      201,
      'X-A: 1',
      'X-Gateway: Version 1',
      'X-Gateway-Completed: true',
      'Cache-Control: public, max-age=1',
      Buffer.from('bytes'),
    ]);
    reply.complete = null;
    equal(written(reply).at(-2), 'X-Gateway: Version 1');
  });

  it('is the data if the reply contains both data and bytes', () => {
    const reply = data();
    reply.body = Buffer.from('bytes');
    equal(written(reply).at(-1), '{"a":1}');
    reply.errors = [broken];
    equal(written(reply).at(-1), '{"a":1}');
  });

  it('has no body for a rejection or an unsuccessful status', () => {
    deepEqual(written(refuse(204)), [204, 'X-Gateway: Version 1', null]);
    const moved = new Reply(300);
    moved.complete = false;
    deepEqual(written(moved), [300, 'X-Gateway: Version 1', 'X-Gateway-Completed: false', null]);
  });
});

describe('the response of a no-op endpoint', () => {
  it("has the backend's status and headers, except for the gateway's own headers", () => {
    const headers = new HeaderBag(['X-Gateway', 'other', 'X-Gateway-Completed', 'true', 'Content-Length', '5']);
    const reply = Reply.raw(404, headers, Buffer.from('bytes'));
    reply.complete = true;
    deepEqual(written(reply, { output: raw }), [
      404,
      'Content-Length: 5',
      'X-Gateway: Version 1',
      'X-Gateway-Completed: false',
      Buffer.from('bytes'),
    ]);
    reply.complete = null;
    equal(written(reply, { output: raw }).at(-2), 'X-Gateway: Version 1');
  });

  it('is a stream without a length only for a streaming output with status 200', () => {
    const answerOf = (output: Encoding, status: number, body: Reply['body']): RenderedReply =>
      render(
        Reply.raw(status, new HeaderBag(['Content-Length', '5']), body),
        { output } as Route,
        makeRequest({}),
        rendering,
      );
    const stream = new ByteStream();
    const rendered = answerOf(streaming, 200, stream);
    deepEqual([rendered.raw, rendered.streams, rendered.body, rendered.status], [true, true, stream, 200]);
    equal(rendered.headers.includes('Content-Length'), false);
    for (const [output, status, body] of [
      [raw, 200, stream],
      [streaming, 201, stream],
      [streaming, 200, Buffer.from('bytes')],
    ] as const) {
      const other = answerOf(output, status, body);
      deepEqual([other.raw, 'streams' in other], [true, false]);
      equal(other.headers.includes('Content-Length'), true);
    }
  });
});

describe('the response to a failed request', () => {
  it('has no body without return_error_msg', () => {
    deepEqual(written(failure(broken)), [500, 'X-Gateway: Version 1', 'X-Gateway-Completed: false', null]);
    deepEqual(written(failure(broken), { output: raw }), written(failure(broken)));
  });

  it('has no completion header for a rejection', () => {
    deepEqual(written(refuse(401, { error: broken })), [401, 'X-Gateway: Version 1', null]);
  });

  it('contains the error messages under return_error_msg', () => {
    deepEqual(written(failure(broken, new CallError('TEST', 'twice')), { told: withMessages }), [
      500,
      'Content-Type: text/plain; charset=utf-8',
      'X-Gateway: Version 1',
      'X-Gateway-Completed: false',
      'it broke\ntwice',
    ]);
  });

  it('has the text and the type of its only error', () => {
    const view = { status: 422, body: '{}', contentType: 'application/json' };
    const own = new CallError('TEST', 'it broke', { view });
    deepEqual(written(failure(own), { told: withMessages }).slice(0, 2), [422, 'Content-Type: application/json']);
    equal(written(failure(own), { told: withMessages }).at(-1), '{}');
    equal(written(failure(own, broken), { told: withMessages }).at(-1), 'it broke\nit broke');
  });

  it('has no body and no type if the text of the error is empty', () => {
    const silent = new CallError('TEST', 'it broke', { view: { status: 429, body: '' } });
    deepEqual(written(failure(silent), { told: withMessages }), [
      429,
      'X-Gateway: Version 1',
      'X-Gateway-Completed: false',
      null,
    ]);
  });
});

describe('a response outside of endpoints', () => {
  const plain = (reply: Reply) => shown(renderPlain(reply, rendering));

  it('is JSON if it has data', () => {
    deepEqual(plain(data()), [
      200,
      'Content-Type: application/json; charset=utf-8',
      'X-Gateway: Version 1',
      'X-Gateway-Completed: true',
      '{"a":1}',
    ]);
    const typed = data(null);
    typed.headers.set('Content-Type', 'application/own+json');
    deepEqual(plain(typed), [200, 'Content-Type: application/own+json', 'X-Gateway: Version 1', '{"a":1}']);
  });

  it('consists of its bytes, or is empty', () => {
    const reply = Reply.raw(200, new HeaderBag(), Buffer.from('bytes'));
    reply.errors = [broken];
    reply.complete = null;
    deepEqual(plain(reply), [200, 'X-Gateway: Version 1', Buffer.from('bytes')]);
    deepEqual(plain(refuse(204)), [204, 'X-Gateway: Version 1', null]);
  });

  it('contains its data even after a failure', () => {
    const reply = data(false);
    reply.errors = [broken];
    equal(plain(reply).at(-1), '{"a":1}');
  });

  it('has no body if it failed without data', () => {
    deepEqual(plain(failure(broken)), [500, 'X-Gateway: Version 1', 'X-Gateway-Completed: false', null]);
    equal(shown(renderPlain(failure(broken), withMessages)).at(-1), 'it broke');
  });
});

describe('the common headers of all responses', () => {
  it('contain the version, unless that is hidden', () => {
    const router = { hide_version_header: false, return_error_msg: true } as never;
    const shownRendering = createRendering(router, '1.2.3');
    deepEqual([shownRendering.names.version, shownRendering.errorMessages], ['Version 1.2.3', true]);
    const hidden = createRendering({ hide_version_header: true, return_error_msg: false } as never, '1.2.3');
    deepEqual([hidden.names.version, hidden.errorMessages], ['Version undefined', false]);
  });

  it('have the names of the gateway, or those of KrakenD', () => {
    const own = createRendering({ compatible_headers: false } as never, '1.2.3').names;
    deepEqual([own.header, own.completed, own.agent], ['X-Gateway', 'X-Gateway-Completed', 'Sluice Version 1.2.3']);
    const compatible = createRendering({ compatible_headers: true } as never, '1.2.3').names;
    deepEqual(
      [compatible.header, compatible.completed, compatible.agent],
      ['X-Krakend', 'X-Krakend-Completed', 'KrakenD Version 1.2.3'],
    );
  });
});
