import { equal, ok, throws } from 'node:assert/strict';
import { Worker } from 'node:worker_threads';
import type { DataObject } from '#contract';
import { plugin as rss } from '../../../plugins/encoding/rss/index.ts';
import { plugin as xml } from '../../../plugins/encoding/xml.ts';
import { plugin as yaml } from '../../../plugins/encoding/yaml.ts';
import { read, write } from './support.ts';

const MB = 1024 * 1024;

const numbered = (count: number, one: (index: number) => string) => Array.from({ length: count }, (_, at) => one(at));

/**
 * Decodes a feed in a thread with little memory.
 * @throws Error ERR_WORKER_OUT_OF_MEMORY if the memory does not suffice.
 */
function readWithin(heapMb: number, body: string): Promise<DataObject> {
  const module = new URL('../../../plugins/encoding/rss/index.ts', import.meta.url).href;
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(${JSON.stringify(module)}).then(({ plugin }) =>
      parentPort.postMessage(plugin.encodings[0].decode(Buffer.from(workerData), false)));`;
  const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 };
  const worker = new Worker(code, { eval: true, workerData: body, resourceLimits });
  return new Promise((resolve, reject) => {
    worker.once('message', (data: DataObject) => resolve(data));
    worker.once('error', reject);
  });
}

/** An algorithm slower than linear time would take minutes here. */
describe('documents that are designed to be expensive', function () {
  this.timeout(20_000);

  it('a feed resolves each XML namespace once, regardless of the nesting of declarations', async () => {
    const opened = numbered(4000, (at) => `<a xmlns:p${at}="urn:${at}">`).join('');
    const feed = await readWithin(96, `<rss><channel>${opened}${'</a>'.repeat(4000)}<title>T</title></channel></rss>`);
    equal(feed['title'], 'T');
  });

  it('an XML prefix is resolved by the innermost declaration around it', () => {
    const dc = 'http://purl.org/dc/elements/1.1/';
    const channel = `<x xmlns:d="urn:other"><d:title/></x><y xmlns:d="urn:third"/><d:title>T</d:title>`;
    equal(read(rss, `<rss xmlns:d="${dc}"><channel>${channel}</channel></rss>`)!['title'], 'T');
    equal(read(rss, `<rss><channel><x xmlns:d="${dc}"/><d:title>T</d:title></channel></rss>`)!['title'], '');
  });

  it('a feed with a hundred thousand authors is parsed', () => {
    const authors = numbered(100_000, (at) => `<dc:creator>a${at}</dc:creator>`).join('');
    const feed = read(rss, `<rss><channel><item>${authors}</item></channel></rss>`)!;
    equal(((feed['items'] as DataObject[])[0]!['authors'] as unknown[]).length, 100_000);
  });

  it('a feed with an author name of a megabyte of punctuation is parsed', () => {
    for (const text of ['@', '(', ' ', 'a@', '@(', '" ', ')', '\t(a@']) {
      const author = `x${text.repeat(MB / text.length)}`;
      ok(read(rss, `<rss><channel><managingEditor>${author}</managingEditor></channel></rss>`)!['author']);
    }
  });

  it('an XML element can have a limited number of attributes, but a document any number', () => {
    const element = (count: number) => `<b ${numbered(count, (at) => `k${at}=""`).join(' ')}/>`;
    equal(((read(xml, `<a>${element(10_000).repeat(3)}</a>`)!['a'] as DataObject)['b'] as unknown[]).length, 3);
    throws(() => read(xml, `<a>${element(25_001)}</a>`), /an XML element has more than 25000 attributes/);
  });

  it('attributes with colliding names are written with short unique names', () => {
    const keys = numbered(
      20_000,
      (at) => `-${at.toString(2).replaceAll('0', '!').replaceAll('1', '"').padStart(15, '!')}`,
    );
    const text = write(xml, { r: Object.fromEntries(keys.map((key) => [key, ''])) });
    ok(text.length < 30 * keys.length);
    equal(Object.keys(read(xml, text)!['r'] as DataObject).length, 20_000);
  });

  it('a long key repeated in many members cannot exceed the output limit', () => {
    throws(() => write(xml, { r: { ['k'.repeat(MB)]: Array(1000).fill(1) } }), /text longer than 134217728 characters/);
  });

  it('deep data with many members cannot exceed the output limit', () => {
    let data: DataObject = { a: Array(100_000).fill(1) };
    for (let level = 0; level < 900; level++) data = { a: data };
    throws(() => write(yaml, data), /text longer than 134217728 characters/);
  });

  it('YAML parsing ends at the first error', () => {
    for (const sign of ['}', ']', '{}', '? &a ', ',', '[}']) {
      throws(() => read(yaml, `a: [${sign.repeat(MB / sign.length)}`), /^Error: \d+:\d+: /);
    }
  });

  it('a YAML number with a million hexadecimal or octal digits is rejected', () => {
    throws(() => read(yaml, `a: 0x${'f'.repeat(MB)}`), /is not a number in JSON/);
    throws(() => read(yaml, `a: 0o${'7'.repeat(MB)}`), /is not a number in JSON/);
    equal(JSON.stringify(read(yaml, `a: 0x${'f'.repeat(20)}`)), '{"a":1208925819614629174706175}');
  });
});
