import { equal } from 'node:assert/strict';
import { plugin } from '../../../plugins/encoding/negotiate.ts';
import { contentType, encodingOf, write } from './support.ts';

const json = 'application/json; charset=utf-8';
const yaml = 'application/yaml; charset=utf-8';
const xml = 'application/xml';

describe('encoding/negotiate', () => {
  for (const [accept, type] of [
    ['application/json', json],
    ['application/xml', xml],
    ['text/plain', yaml],
    ['application/yaml', yaml],
    ['application/x-yaml', yaml],
    ['*/*', json],
    ['application/*', json],
    ['text/*', yaml],
    ['APPLICATION/XML', xml],
    ['text/html, application/xml;q=0.9, */*;q=0.8', xml],
    ['application/xml;q=0.1, application/json', xml],
    [' text/plain ; charset=utf-8', yaml],
    ['text/html', json],
    ['image/*, constructor', json],
    ['', json],
    [',,;', json],
  ] as const) {
    it(`responds to Accept: ${JSON.stringify(accept)} with ${type}`, () => {
      equal(contentType(plugin, accept), type);
    });
  }

  it('writes JSON without an Accept header', () => {
    equal(contentType(plugin), json);
    equal(write(plugin, { a: 1 }), '{"a":1}');
  });

  it('writes the output of the selected encoding', () => {
    equal(write(plugin, { u: { n: 'E' } }, 'text/plain'), 'u:\n  n: E\n');
    equal(write(plugin, { a: 1, b: [2, 3] }, 'application/xml'), '<doc><a>1</a><b>2</b><b>3</b></doc>');
    equal(write(plugin, null, 'application/xml'), '');
    equal(write(plugin, null), '{}');
  });

  it('is available for output only', () => {
    equal(encodingOf(plugin).decode, undefined);
  });
});
