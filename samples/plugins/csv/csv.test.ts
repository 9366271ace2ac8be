import { deepEqual, equal, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { plugin } from './csv.ts';

const { decode, encode } = plugin.encodings![0]!;
const read = (text: string) => decode!(Buffer.from(text), true)!['collection'];
const write = (collection: readonly object[]) => encode!({ collection } as never, undefined).body;

test('cells may be quoted, empty and missing', () => {
  deepEqual(read('id,name,note\r\n1,"Lovelace, Ada","said ""hi""\r\nand left"\n2,,\n3'), [
    { id: '1', name: 'Lovelace, Ada', note: 'said "hi"\r\nand left' },
    { id: '2', name: '', note: '' },
    { id: '3', name: '', note: '' },
  ]);
  deepEqual(read(''), []);
  deepEqual(read('id\n'), []);
});

test('a quote that stays open is a mistake with its place', () => {
  throws(() => read('id\n"1'), /csv: cannot read the cell at character 3/);
});

test('a column named as a prototype is a column', () => {
  const [row] = read('__proto__\nx') as readonly object[];
  deepEqual(Object.keys(row!), ['__proto__']);
});

test('columns are all that occur, and what needs quotes has them', () => {
  equal(
    write([
      { id: 1, name: 'a"b' },
      { id: 2, tags: ['x', 'y'] },
    ]),
    'id,name,tags\r\n1,"a""b",\r\n2,,"[""x"",""y""]"\r\n',
  );
  equal(write([]), '');
});

test('what was written is read again', () => {
  const rows = [
    { a: '1,2', b: 'x\ny' },
    { a: '"', b: '' },
  ];
  deepEqual(read(String(write(rows))), rows);
});

test('data without a collection is one row', () => {
  equal(encode!({ id: 1 }, undefined).body, 'id\r\n1\r\n');
});
