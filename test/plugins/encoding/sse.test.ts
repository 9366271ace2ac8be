import { deepEqual, equal, throws } from 'node:assert/strict';
import { BackendError } from '#contract';
import { plugin } from '../../../plugins/encoding/sse.ts';
import { everyCut, rewrite, same, stepwise, without } from './stream-support.ts';

const text = (stream: string, each = same): string => rewrite(plugin, [stream], each).toString();

describe('encoding/sse', () => {
  it('rewrites the data of JSON objects and leaves other data unchanged', () => {
    equal(
      text('data: {"a":1,"secret":2}\n\n: ping\n\ndata: [DONE]\n\ndata: [1,{"secret":2}]\n\n', without('secret')),
      'data: {"a":1}\n\n: ping\n\ndata: [DONE]\n\ndata: [1,{"secret":2}]\n\n',
    );
  });

  it('writes event, id and retry before the data', () => {
    equal(text('data: {"a":1}\nretry: 5\nid: 7\nevent: x\n\n'), 'event: x\nid: 7\nretry: 5\ndata: {"a":1}\n\n');
  });

  it('drops unknown fields', () => equal(text('data: x\nfoo: bar\nbaz\n\n'), 'data: x\n\n'));

  it('joins the data lines of a JSON object, and keeps those of plain text separate', () => {
    equal(text('data: {"a":\ndata: 1}\n\ndata: a\ndata\ndata: b\n\n'), 'data: {"a":1}\n\ndata: a\ndata: \ndata: b\n\n');
  });

  it('strips one leading space of a value', () => equal(text('data:  x\n\ndata:y\n\n'), 'data:  x\n\ndata: y\n\n'));

  it('accepts LF, CRLF and CR as the end of a line', () => {
    const wanted = 'event: e\ndata: 1\n\n: c\n\ndata: 2\n\n';
    for (const end of ['\n', '\r\n', '\r']) {
      equal(text(['event: e', 'data: 1', '', ': c', '', 'data: 2', '', ''].join(end)), wanted);
    }
  });

  it('forwards a message at the CR that ends it, without waiting for an LF', () => {
    deepEqual(stepwise(plugin, ['data: 1\r\n\r', '\ndata: 2\r\n\r', '\n']), ['data: 1\n\n', 'data: 2\n\n', '']);
  });

  it('drops a byte order mark at the start only', () => {
    equal(text('\ufeffdata: 1\n\ndata: \ufeff2\n\n'), 'data: 1\n\ndata: \ufeff2\n\n');
  });

  it('treats an incomplete byte order mark as text', () => {
    const bytes = [Buffer.from([0xef]), Buffer.from([0xbb, 0x3a]), Buffer.from('\ndata: 1\n\n')];
    equal(rewrite(plugin, bytes).toString(), 'data: 1\n\n');
  });

  it('decodes a stream identically for any split into chunks', () => {
    const stream =
      '\ufeff: hé\r\ndata: {"ä":1,"secret":2}\r\n\r\nid: 1\revent: e\rdata: x\r\rdata: [DONE]\n\n: p\n\ndata: {"secret":1}\n\n';
    const whole = text(stream, without('secret'));
    equal(whole, ': hé\ndata: {"ä":1}\n\nevent: e\nid: 1\ndata: x\n\ndata: [DONE]\n\n: p\n\n');
    for (const chunks of everyCut(stream)) equal(rewrite(plugin, chunks, without('secret')).toString(), whole);
  });

  it('forwards comments immediately, even in the middle of a message', () => {
    deepEqual(stepwise(plugin, ['data: 1\n: ping\n', '\n']), [': ping\n', 'data: 1\n\n']);
  });

  it('forwards every message as soon as it is complete', () => {
    deepEqual(stepwise(plugin, ['data: 1', '\n', '\nda', 'ta: 2\n\n']), ['', '', 'data: 1\n\n', 'data: 2\n\n']);
  });

  it('drops a message that was rejected or is empty after filtering', () => {
    equal(
      text('data: {"a":1}\n\ndata: x\n\n', () => null),
      'data: x\n\n',
    );
    equal(text('data: {"secret":1}\n\nevent: x\ndata: {"secret":1}\n\n', without('secret')), '');
  });

  it('keeps messages without data', () => equal(text('id: 9\n\nretry: 10\n\n'), 'id: 9\n\nretry: 10\n\n'));

  it('does not parse data that no component reads', () => {
    equal(rewrite(plugin, ['data: { "a" : 1 }\n\ndata: {}\n\n']).toString(), 'data: { "a" : 1 }\n\ndata: {}\n\n');
  });

  it('preserves the digits of long numbers', () => {
    equal(
      text('data: {"n":9007199254740993,"d":0.1000000000000000055}\n\n'),
      'data: {"n":9007199254740993,"d":0.1000000000000000055}\n\n',
    );
  });

  it('treats keys such as __proto__ as plain data', () => {
    equal(text('data: {"__proto__":{"x":1},"secret":1}\n\n', without('secret')), 'data: {"__proto__":{"x":1}}\n\n');
  });

  it('leaves malformed JSON data unchanged', () => equal(text('data: {"a":1\n\n'), 'data: {"a":1\n\n'));

  it('filters the text after the last blank line, but does not make it a message', () => {
    equal(text('data: 1\n\ndata: {"secret":1,"a":2}', without('secret')), 'data: 1\n\ndata: {"a":2}\n');
  });

  it('accepts a message of 1 MiB after other messages', () => {
    const line = `data: ${'x'.repeat(1024 * 1024 - 7)}\n`;
    equal(text(`${line}\n${line}\n`), `${line}\n${line}\n`);
  });

  it('does not count comments toward the limit of a message', () => {
    const comments = ': ping\n'.repeat(200_000);
    equal(text(`data: 1\n${comments}\n`), `${comments}data: 1\n\n`);
  });

  it('aborts at a message over 1 MiB and reports its position', () => {
    for (const line of ['x', 'data: x\n']) {
      const stream = 'data: 1\n\n' + line.repeat(Math.ceil((1024 * 1024 + 1) / line.length));
      throws(
        () => rewrite(plugin, [stream]),
        (error: BackendError) =>
          error instanceof BackendError && /message larger than 1048576 bytes at byte 1048585/.test(error.message),
      );
    }
  });
});
