import { deepEqual } from 'node:assert/strict';
import { backends, findings } from './findings.ts';

const places = (code: string, ...document: Parameters<typeof backends>) =>
  findings(backends(...document), code).map(({ pointer }) => pointer);

describe('the encoding of a backend under a streaming output', () => {
  const unused = (encoding: string | undefined, output: string) =>
    places('OUTPUT_ENCODING', [{ encoding }], { output_encoding: output });

  it('causes a warning, because the streaming output determines the encoding', () => {
    const place = '/endpoints/0/backend/0/encoding';
    deepEqual([unused('json', 'ndjson'), unused('json', 'sse')], [[place], [place]]);
  });
  it('causes no warning if it agrees or is not configured', () => {
    deepEqual([unused(undefined, 'sse'), unused('sse', 'sse'), unused('no-op', 'sse')].flat(), []);
  });
  it('causes no warning under no-op', () => deepEqual(unused('json', 'no-op'), []));
});

describe('an output of plain text', () => {
  const missing = (list: readonly object[], fields: object = {}) =>
    places('OUTPUT_CONTENT', list, { output_encoding: 'string', ...fields });

  it('causes a warning if its field is missing from JSON backends', () => {
    deepEqual(missing([{}]), ['/endpoints/0/output_encoding']);
    deepEqual(missing([{ allow: ['id'] }, { group: 'user' }]), ['/endpoints/0/output_encoding']);
  });
  it('causes a warning at the root if it is set there', () =>
    deepEqual(places('OUTPUT_CONTENT', [{}], {}, { output_encoding: 'string' }), ['/output_encoding']));
  it('causes no warning if a backend reads text or provides the field', () => {
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
  it('causes no warning if a component may add the field', () => {
    const made = { 'modifier/lua-proxy': {} };
    const added = { proxy: { static: { data: { content: 'x' }, strategy: 'always' } } };
    deepEqual(missing([{}], { extra_config: made }), []);
    deepEqual(missing([{}], { extra_config: added }), []);
    deepEqual(missing([{ extra_config: made }]), []);
  });
});
