import { deepEqual } from 'node:assert/strict';
import { backends, findings } from './findings.ts';

const places = (code: string, ...document: Parameters<typeof backends>) =>
  findings(backends(...document), code).map(({ pointer }) => pointer);

describe('an output of messages', () => {
  const unused = (encoding: string | undefined, output: string) =>
    places('OUTPUT_ENCODING', [{ encoding }], { output_encoding: output });

  it('reads the backend with its own encoding, regardless of the configured one', () => {
    const place = '/endpoints/0/backend/0/encoding';
    deepEqual([unused('json', 'ndjson'), unused('json', 'sse')], [[place], [place]]);
  });
  it('has nothing to say where nothing else is written', () => {
    deepEqual([unused(undefined, 'sse'), unused('sse', 'sse'), unused('no-op', 'sse')].flat(), []);
  });
  it('is another matter than an output of bytes', () => deepEqual(unused('json', 'no-op'), []));
});

describe('an output of text', () => {
  const missing = (list: readonly object[], fields: object = {}) =>
    places('OUTPUT_CONTENT', list, { output_encoding: 'string', ...fields });

  it('lacks its field over backends that answer in JSON', () => {
    deepEqual(missing([{}]), ['/endpoints/0/output_encoding']);
    deepEqual(missing([{ allow: ['id'] }, { group: 'user' }]), ['/endpoints/0/output_encoding']);
  });
  it('is reported where the root sets it', () =>
    deepEqual(places('OUTPUT_CONTENT', [{}], {}, { output_encoding: 'string' }), ['/output_encoding']));
  it('has content if a backend reads text, or the field is named', () => {
    for (const backend of [
      { encoding: 'string' },
      { encoding: 'safejson' },
      { allow: ['content'] },
      { mapping: { message: 'content' } },
      { target: 'data' },
    ]) {
      deepEqual(missing([{}, backend]), [], JSON.stringify(backend));
    }
  });
  it('may have it of a component', () => {
    const made = { 'modifier/lua-proxy': {} };
    const added = { proxy: { static: { data: { content: 'x' }, strategy: 'always' } } };
    deepEqual(missing([{}], { extra_config: made }), []);
    deepEqual(missing([{}], { extra_config: added }), []);
    deepEqual(missing([{ extra_config: made }]), []);
  });
});
