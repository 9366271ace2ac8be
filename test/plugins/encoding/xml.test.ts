import { deepEqual, doesNotThrow, equal, throws } from 'node:assert/strict';
import { SaxesParser } from 'saxes';
import type { DataObject } from '#contract';
import { plugin } from '../../../plugins/encoding/xml.ts';
import { contentType, read, write } from './support.ts';

describe('the XML decoder', () => {
  it('converts attributes, children and repeated children to keys', () => {
    deepEqual(read(plugin, '<a t="1"><b>x</b><b>y</b></a>'), { a: { '-t': '1', b: ['x', 'y'] } });
  });

  it('converts a single child to a value, not a list', () => {
    deepEqual(read(plugin, '<a><b>x</b></a>'), { a: { b: 'x' } });
  });

  it('lists repeated children in document order, regardless of elements between them', () => {
    deepEqual(read(plugin, '<a><b>1</b><c/><b><d/></b><b/></a>'), { a: { b: ['1', { d: '' }, ''], c: '' } });
  });

  it('keeps the text of an element with attributes or children under #text', () => {
    deepEqual(read(plugin, '<a k="v"> x </a>'), { a: { '-k': 'v', '#text': 'x' } });
    deepEqual(read(plugin, '<a>x<b/>y</a>'), { a: { b: '', '#text': 'xy' } });
  });

  it('trims XML white space only', () => {
    deepEqual(read(plugin, '<a>\n\t \u00a0x\u00a0 \r\n</a>'), { a: '\u00a0x\u00a0' });
  });

  it('converts empty elements to empty strings', () => {
    deepEqual(read(plugin, '<a/>'), { a: '' });
    deepEqual(read(plugin, '<a> </a>'), { a: '' });
    deepEqual(read(plugin, '<a><b></b></a>'), { a: { b: '' } });
  });

  it('converts all values to strings', () => {
    deepEqual(read(plugin, '<a><n>9007199254740993</n><t>true</t></a>'), { a: { n: '9007199254740993', t: 'true' } });
  });

  it('drops prefixes of elements and attributes', () => {
    deepEqual(read(plugin, '<s:a xmlns:s="urn:s" s:k="1"><s:b>x</s:b><b>y</b></s:a>'), {
      a: { '-s': 'urn:s', '-k': '1', b: ['x', 'y'] },
    });
  });

  it('resolves entities, character references and CDATA sections', () => {
    deepEqual(read(plugin, '<a k="&lt;&#x41;">&amp;&#233;<![CDATA[<b>]]></a>'), {
      a: { '-k': '<A', '#text': '&é<b>' },
    });
  });

  it('wraps the object in the key "collection" if is_collection is set', () => {
    deepEqual(read(plugin, '<a><b>1</b></a>', true), { collection: { a: { b: '1' } } });
  });

  it('ignores comments, instructions and white space around the root', () => {
    deepEqual(read(plugin, '<?xml version="1.0"?>\n<!-- x --><?y z?><a>1<!-- 2 --></a>\n<!-- x -->\n'), { a: '1' });
  });

  it('converts declared charsets', () => {
    const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>caf\xe9</a>', 'latin1');
    deepEqual(read(plugin, latin), { a: 'café' });
    const western = Buffer.from('<?xml version="1.0" encoding="windows-1252"?><a>\x80</a>', 'latin1');
    deepEqual(read(plugin, western), { a: '€' });
    const japanese = Buffer.concat([
      Buffer.from('<?xml version="1.0" encoding="Shift_JIS"?><a>'),
      Buffer.from([0x93, 0xfa]),
      Buffer.from('</a>'),
    ]);
    deepEqual(read(plugin, japanese), { a: '日' });
  });

  it('honors the byte order mark', () => {
    deepEqual(read(plugin, Buffer.from('\ufeff<a>é</a>')), { a: 'é' });
    deepEqual(read(plugin, Buffer.from('\ufeff<?xml version="1.0" encoding="utf-16"?><a>é</a>', 'utf16le')), {
      a: 'é',
    });
    deepEqual(read(plugin, Buffer.from('\ufeff<a>é</a>', 'utf16le').swap16()), { a: 'é' });
  });

  it('ignores a declaration of UTF-16 in single-byte text', () => {
    deepEqual(read(plugin, '<?xml version="1.0" encoding="UTF-16"?><a>é</a>'), { a: 'é' });
  });

  it('rejects unknown charsets and bytes that are invalid in the charset', () => {
    throws(() => read(plugin, '<?xml version="1.0" encoding="nope"?><a/>'), /unsupported XML encoding "nope"/);
    throws(() => read(plugin, Buffer.from('<a>\xff</a>', 'latin1')), /invalid UTF-8/);
  });

  it('rejects documents without a root element', () => {
    throws(() => read(plugin, ''), /^Error: EOF$/);
    throws(() => read(plugin, ' \n'), /^Error: EOF$/);
    throws(() => read(plugin, '<!-- a -->'), /root/);
    throws(() => read(plugin, 'text'), /outside of root/);
  });

  it('rejects malformed documents', () => {
    for (const text of [
      '<a>',
      '<a></b>',
      '<a/><b/>',
      '<a/>x',
      '<a b=1/>',
      '<a b="1" b="2"/>',
      '<a>&nope;</a>',
      '<a>\0</a>',
      '<a><![CDATA[x</a>',
      '<![CDATA[x]]><a/>',
    ]) {
      throws(() => read(plugin, text), Error, text);
    }
  });

  it('never expands declared entities or fetches external ones', () => {
    const bomb = `<!DOCTYPE a [<!ENTITY x "ha">${'<!ENTITY y "&x;&x;&x;">'.repeat(20)}]>`;
    throws(() => read(plugin, `${bomb}<a>&y;</a>`), /undefined entity/);
    throws(() => read(plugin, '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'), /undefined entity/);
    deepEqual(read(plugin, `${bomb}<a>1</a>`), { a: '1' });
  });

  it('treats names such as __proto__ as plain names', () => {
    throws(() => read(plugin, '<a>&toString;</a>'), /undefined entity/);
    throws(() => read(plugin, '<a>&__proto__;</a>'), /undefined entity/);
    const data = read(plugin, '<__proto__><__proto__>1</__proto__><__proto__/><constructor/></__proto__>')!;
    equal(JSON.stringify(data), '{"__proto__":{"__proto__":["1",""],"constructor":""}}');
  });

  it('rejects nesting beyond 10,000 levels with an error', () => {
    throws(() => read(plugin, '<a>'.repeat(10_001) + '</a>'.repeat(10_001)), /nested deeper than 10000 levels/);
    doesNotThrow(() => read(plugin, '<a>'.repeat(10_000) + '</a>'.repeat(10_000)));
  });
});

describe('the XML encoder', () => {
  it('wraps several keys in "doc" and repeats the tag for list items', () => {
    equal(write(plugin, { a: 1, b: [2, 3] }), '<doc><a>1</a><b>2</b><b>3</b></doc>');
  });

  it('uses a single key as the root', () => {
    equal(write(plugin, { a: { c: 'x', b: true } }), '<a><b>true</b><c>x</c></a>');
    equal(write(plugin, { a: 'x' }), '<a>x</a>');
    equal(write(plugin, { a: [] }), '<a/>');
  });

  it('wraps a single list in "doc", because a document has only one root element', () => {
    equal(write(plugin, { a: [1, 2] }), '<doc><a>1</a><a>2</a></doc>');
    equal(write(plugin, { a: [{ b: 1 }, { b: 2 }] }), '<doc><a><b>1</b></a><a><b>2</b></a></doc>');
  });

  it('wraps a single attribute or text in "doc"', () => {
    equal(write(plugin, { '-a': 1 }), '<doc a="1"/>');
    equal(write(plugin, { '#text': 'x' }), '<doc>x</doc>');
  });

  it('writes sorted attributes, then the text, then sorted children', () => {
    equal(
      write(plugin, { r: { z: 1, '-y': 'q"', '#text': 't', '-b': null, a: 2 } }),
      '<r b="" y="q&quot;">t<a>2</a><z>1</z></r>',
    );
  });

  it('flattens nested lists into the same tag', () => {
    equal(write(plugin, { r: { a: [1, [2, [3]], []] } }), '<r><a>1</a><a>2</a><a>3</a></r>');
    equal(write(plugin, { r: { a: [[], []] } }), '<r><a/></r>');
  });

  it('writes null, empty strings, empty objects and empty lists as empty elements', () => {
    equal(write(plugin, { a: null, b: '', c: {}, d: [], e: [null, ''] }), '<doc><a/><b/><c/><d/><e/><e/></doc>');
  });

  it('preserves the digits of numbers', () => {
    equal(write(plugin, { n: JSON.rawJSON('9007199254740993') }), '<n>9007199254740993</n>');
    equal(write(plugin, { r: { '-n': JSON.rawJSON('1.10000000000000000001') } }), '<r n="1.10000000000000000001"/>');
  });

  it('escapes XML special characters', () => {
    equal(write(plugin, { a: `&<>"'` }), '<a>&amp;&lt;&gt;&quot;&apos;</a>');
  });

  it('preserves line ends and tabs in attributes, and carriage returns in text', () => {
    const data = { a: { '-k': 'x\n\ty\r', '#text': 'x\ry' } };
    deepEqual(read(plugin, write(plugin, data)), data);
  });

  it('replaces characters that are invalid in XML', () => {
    equal(write(plugin, { a: '\0\x1b\ud800\uffff😀' }), '<a>\ufffd\ufffd\ufffd\ufffd😀</a>');
    equal(write(plugin, { r: { '-k': '\x01' } }), '<r k="\ufffd"/>');
  });

  it('converts every key to a valid XML name', () => {
    equal(write(plugin, { '9 lives': 1 }), '<_9_lives>1</_9_lives>');
    equal(write(plugin, { '': 1 }), '<_>1</_>');
    equal(write(plugin, { 'a<b>&': 1 }), '<a_b__>1</a_b__>');
    equal(write(plugin, { größe: 1 }), '<größe>1</größe>');
    equal(write(plugin, { '-': 1, '#x': 2, '-o': { a: 1 } }), '<doc><_x>2</_x><_->1</_-><_-o><a>1</a></_-o></doc>');
    equal(write(plugin, { '#text': { a: 1 } }), '<_text><a>1</a></_text>');
  });

  it('writes attributes with colliding names under different names', () => {
    equal(write(plugin, { r: { '-a b': 1, '-a_b': 2 } }), '<r a_b="1" a_b_2="2"/>');
    equal(
      write(plugin, { r: { '-a b': 1, '-a!b': 2, '-a_b': 3, '-a_b_2': 4 } }),
      '<r a_b="1" a_b_2="2" a_b_3="3" a_b_2_2="4"/>',
    );
  });

  it('writes empty data as an empty document and absent data as an empty body', () => {
    equal(write(plugin, {}), '<doc/>');
    equal(write(plugin, null), '');
  });

  it('sets its content type', () => {
    equal(contentType(plugin), 'application/xml');
  });

  it('fails with an error if data is nested too deeply', () => {
    let data: DataObject = {};
    for (let level = 0; level < 100_000; level++) data = { a: data };
    throws(() => write(plugin, data), /nested too deeply/);
  });

  it('writes well-formed XML for any keys and texts', () => {
    const signs = [
      'a',
      '9',
      ' ',
      '<',
      '&',
      '"',
      "'",
      ':',
      '-',
      '#',
      'é',
      '\0',
      '\n',
      '\ud800',
      '😀',
      '\u00b7',
      ']]>',
      'x',
    ];
    for (let round = 0; round < 3000; round++) {
      const word = (salt: number) => [1, 7, 13].map((step) => signs[(round * step + salt) % signs.length]).join('');
      const text = write(plugin, {
        [word(0)]: { [`-${word(1)}`]: word(2), [`-${word(3)}`]: word(4), '#text': word(5), [word(6)]: [word(7), null] },
        ...(round % 2 ? { [word(8)]: word(9) } : {}),
      });
      const parser = new SaxesParser();
      parser.on('error', (error) => {
        throw error;
      });
      doesNotThrow(() => parser.write(text).close(), text);
    }
  });
});
