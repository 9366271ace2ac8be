import { deepEqual, equal } from 'node:assert/strict';
import { backends, finding, findings, pointedAt, service } from './findings.ts';

const variable = (name: string) => `\${${name}}`;
const codes = (document: object) =>
  [...findings(document, 'CONFIG_VARIABLE'), ...findings(document, 'CONFIG_INCLUDE')].map(({ pointer }) => pointer);

describe('an unresolved variable in a configuration', () => {
  it('is reported at its position', () => {
    const name = `shop-${variable('STAGE')}-1`;
    equal(pointedAt(name, finding(service([], { name }), 'CONFIG_VARIABLE')), variable('STAGE'));
  });
  it('is reported in every notation', () => {
    for (const name of [variable('A'), variable('A:-b'), '$SHOP', '{{ .name }}', '{{ env "NAME" }}', '{{- $x -}}']) {
      deepEqual(codes(service([], { name })), ['/name'], name);
    }
  });
  it('is not reported in text that only resembles one', () => {
    for (const name of ['$', '$1', '${', 'cost: $5', '$filter', '{{id}}', '{x}', '{{}}']) {
      deepEqual(codes(service([], { name })), [], name);
    }
  });
  it('is reported in a component if it is the whole string', () => {
    const components = { 'a/b': { script: `print(${variable('x')})`, key: variable('KEY'), other: '{{ .body }}' } };
    deepEqual(codes(service([], { extra_config: components })), ['/extra_config/a~1b/key']);
  });
  it('is treated as data in free-form data', () => {
    const extra_config = { proxy: { static: { data: { price: '$USD' }, strategy: 'always' } } };
    deepEqual(codes(backends([{}], { extra_config })), []);
  });
  it('is ignored in a comment', () =>
    deepEqual(codes(service([], { '@note': variable('X'), $schema: '$SCHEMA' })), []));
});

describe('an unresolved include', () => {
  it('is reported in every notation', () => {
    for (const key of ['$ref', '$include', '@include', '$import', '_extends']) {
      deepEqual(codes(backends([{ [key]: 'a.json' }])), [`/endpoints/0/backend/0/${key}`]);
    }
  });
  it('is treated as a comment if it names no file', () => {
    deepEqual(codes(backends([{ $ref: { a: 1 }, '@comment': 'a.json' }])), []);
  });
  it('is reported if it replaces the configuration of a component', () =>
    deepEqual(codes(service([], { extra_config: { 'a/b': { $ref: 'b.yaml' } } })), ['/extra_config/a~1b/$ref']));
  it('is treated as a JSON Schema reference in a component that contains JSON documents', () => {
    const extra_config = {
      'validation/json-schema': { $ref: 'a.json' },
      'documentation/openapi': { response: { $ref: '#/components/x' } },
    };
    deepEqual(codes(backends([{}], { extra_config })), []);
  });
  it('is an ordinary key if keys are data', () => deepEqual(codes(backends([{ mapping: { $ref: 'reference' } }])), []));
});
