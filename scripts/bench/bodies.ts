import { small } from './payloads.ts';
import type { Attached, Scenario } from './scenario.ts';

const body = JSON.stringify(small);

/** Measures the cost of a component for a POST request with 1 KiB of JSON, whose response is decoded and encoded. */
function scenario(name: string, attached: Attached): Scenario {
  const path = `/bench/${name}`;
  const headers = ['Content-Type', 'application/json', 'Content-Length', String(body.length)];
  const request = { request: { method: 'POST', path, body, headers } };
  return {
    ...{ name, path, expected: small, without: request },
    endpoint: { method: 'POST', backend: [{ url_pattern: '/', method: 'POST', deny: ['nothing'] }] },
    attach: () => ({ ...attached, ...request }),
  };
}

const schema = {
  type: 'object',
  required: ['id', 'name', 'email', 'address'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string', maxLength: 100 },
    email: { type: 'string', pattern: '^\\S+@\\S+$' },
    address: { type: 'object', required: ['city'] },
  },
};

const extraction = {
  operations: [
    { type: 'header', strategy: 'dotnotation', expression: 'address.city', target: 'X-City', on_conflict: 'replace' },
  ],
};

const script = `local r = response.load()
r:data():set('seen', true)`;

/** Components that read or change bodies. */
export const bodyScenarios: readonly Scenario[] = [
  scenario('json-schema', { endpoint: { 'validation/json-schema': schema } }),
  scenario('request-body-extractor', { endpoint: { 'modifier/request-body-extractor': extraction } }),
  scenario('request-body-extractor-early', { endpoint: { 'modifier/request-body-extractor/early': extraction } }),
  scenario('response-body', {
    endpoint: {
      'modifier/response-body': { modifiers: [{ upper: { field: 'name' } }, { lower: { field: 'email' } }] },
    },
  }),
  scenario('body-generator', {
    backend: { 'modifier/body-generator': { template: btoa('{"order":{{ toJson .req_body }}}') } },
  }),
  scenario('lua-endpoint', {
    endpoint: { 'modifier/lua-endpoint': { pre: `local c = ctx.load()\nc:headers('X-Seen', 'yes')` } },
  }),
  scenario('lua-backend', { backend: { 'modifier/lua-backend': { post: script } } }),
  scenario('flatmap', {
    backend: { proxy: { flatmap_filter: [{ type: 'move', args: ['address.city', 'city'] }] } },
  }),
  scenario('static', { endpoint: { proxy: { static: { strategy: 'always', data: { seen: true } } } } }),
];
