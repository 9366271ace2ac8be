import { deepEqual, equal } from 'node:assert/strict';
import { plugin as noOp } from '../../../plugins/encoding/no-op.ts';
import { plugin } from '../../../plugins/encoding/string.ts';
import { contentType, encodingOf, read, write } from './support.ts';

describe('encoding/string', () => {
  it('reads the whole body as "content"', () => {
    deepEqual(read(plugin, ' h\u00e9 {"a":1}\n'), { content: ' h\u00e9 {"a":1}\n' });
  });

  it('reads an empty body as empty content', () => {
    deepEqual(read(plugin, ''), { content: '' });
  });

  it('replaces invalid UTF-8', () => {
    deepEqual(read(plugin, Buffer.from([0x61, 0xff])), { content: 'a\ufffd' });
  });

  it('writes only the content', () => {
    equal(write(plugin, { content: 'hi', other: 1 }), 'hi');
    equal(contentType(plugin), 'text/plain; charset=utf-8');
  });

  it('writes an empty body if the content is not a string', () => {
    equal(write(plugin, { content: 1 }), '');
    equal(write(plugin, { content: { a: 'b' } }), '');
    equal(write(plugin, {}), '');
    equal(write(plugin, null), '');
  });

  it('forwards only valid UTF-8 unchanged', () => {
    const bytes = Buffer.from('h\u00e9');
    deepEqual(encodingOf(plugin).passes!(bytes, false), {
      contentType: 'text/plain; charset=utf-8',
      body: bytes,
      empty: false,
    });
    equal(encodingOf(plugin).passes!(Buffer.from([0xff]), false), null);
  });
});

describe('encoding/no-op', () => {
  it('forwards bytes and never decodes the body', () => {
    equal(encodingOf(noOp).raw, true);
    deepEqual(read(noOp, '{"a":1}'), {});
    equal(encodingOf(noOp).encode, undefined);
  });
});
