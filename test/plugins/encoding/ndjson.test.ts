import { deepEqual, equal, throws } from 'node:assert/strict';
import { plugin } from '../../../plugins/encoding/ndjson.ts';
import { everyCut, rewrite, same, stepwise, without } from './stream-support.ts';

const text = (stream: string, each = same): string => rewrite(plugin, [stream], each).toString();

describe('encoding/ndjson', () => {
  it('splits at line ends, regardless of the chunks', () => {
    deepEqual(stepwise(plugin, ['{"a":1}\n{"b":2}\n{"c"', ':3}\n']), ['{"a":1}\n{"b":2}\n', '{"c":3}\n']);
  });

  it('decodes a stream identically for any split into chunks', () => {
    const stream = '\ufeff{ "é": 1, "secret": 2 }\r\n\n  \n[1, 2]\nnull\n{"secret":1}\n"x"\n{}\nnot json\n{"last":1}';
    const whole = text(stream, without('secret'));
    equal(whole, '{"é":1}\n[1, 2]\nnull\n"x"\n{}\nnot json\n{"last":1}\n');
    for (const chunks of everyCut(stream)) equal(rewrite(plugin, chunks, without('secret')).toString(), whole);
  });

  it('writes compact objects, even if no component reads them', () => {
    equal(rewrite(plugin, ['{ "a" : [ 1 ] }\n']).toString(), '{"a":[1]}\n');
  });

  it('drops blank lines', () => equal(text('\n\r\n \t\n{"a":1}\n\n'), '{"a":1}\n'));

  it('treats a last line without a line end as a message', () => equal(text('{"a":1}\n{"b":2}'), '{"a":1}\n{"b":2}\n'));

  it('drops an object that is empty after filtering, but not one that was empty before', () => {
    equal(text('{"secret":1}\n{}\n{ }\n', without('secret')), '{}\n{}\n');
  });

  it('drops rejected messages', () =>
    equal(
      text('{"a":1}\n{}\n[]\n', () => null),
      '[]\n',
    ));

  it('forwards binary data unchanged', () => {
    const bytes = Buffer.from([0xff, 0xfe, 10]);
    deepEqual(rewrite(plugin, [bytes], same), bytes);
  });

  it('preserves the digits of long numbers', () => equal(text('{"n":9007199254740993}\n'), '{"n":9007199254740993}\n'));

  it('aborts at a line over 1 MiB and reports its position', () => {
    const line = `"${'x'.repeat(1024 * 1024)}"\n`;
    throws(() => text(`1\n${line}`), /ndjson: message larger than 1048576 bytes at byte 1048578/);
    equal(text(`${line.slice(2)}`).length, 1024 * 1024 + 1);
  });
});
