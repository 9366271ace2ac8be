import { deepEqual } from 'node:assert/strict';
import { normalize } from '../../../support/known.ts';
import { documented, OPENAPI } from '../fixture.ts';

/** Codes of errors and warnings, with their pointers below the component at the first endpoint or at the root. */
function told(settings: object, service: object = {}): string[] {
  const { errors, warnings } = normalize({
    version: 3,
    endpoints: [documented('/a', settings, { method: 'POST' })],
    extra_config: { [OPENAPI]: service },
  });
  return [...errors, ...warnings].map(
    ({ code, pointer }) => `${code} ${pointer.split('documentation~1openapi').at(-1)}`,
  );
}

const broken = Buffer.from('{"type":').toString('base64');

describe('check of documentation/openapi', () => {
  for (const [sentence, settings, expected, service] of [
    [
      'accepts a valid configuration',
      { response_definition: { 200: { ref: 'A' } } },
      [],
      { components_schemas: { A: {} } },
    ],
    [
      'rejects a schema that is not valid base64',
      { request_definition: [{ content_type: 'a/b', example_schema: '{]' }] },
      ['OPENAPI_SCHEMA /request_definition/0/example_schema'],
    ],
    [
      'rejects base64 of invalid JSON',
      { response_definition: { 200: { example_schema: broken } } },
      ['OPENAPI_SCHEMA /response_definition/200/example_schema'],
    ],
    [
      'rejects base64 of invalid JSON at the root',
      {},
      ['OPENAPI_SCHEMA /components_schemas/A'],
      { components_schemas: { A: broken } },
    ],
    [
      'rejects a ref that does not exist',
      { response_definition: { 200: { ref: 'constructor' } } },
      ['OPENAPI_REF /response_definition/200/ref'],
    ],
    [
      'rejects a duplicate content type',
      { request_definition: [{ content_type: 'a/b' }, { content_type: 'a/b' }] },
      ['OPENAPI_CONTENT_TYPE /request_definition/1/content_type'],
    ],
    [
      'rejects a duplicate content type of one status',
      { response_definition: { 200: [{ content_type: 'a/b' }, { content_type: 'a/b', ref: 'x' }] } },
      ['OPENAPI_CONTENT_TYPE /response_definition/200/1/content_type', 'OPENAPI_REF /response_definition/200/1/ref'],
    ],
    [
      'rejects an example together with a schema',
      { response_definition: { 200: { example: 1, example_schema: {} } } },
      ['OPENAPI_EXAMPLE /response_definition/200/example'],
    ],
    [
      'rejects an invalid response status',
      { response_definition: { ok: {}, '@note': 'x' } },
      ['OPENAPI_STATUS /response_definition/ok'],
    ],
    [
      'warns about an undefined security scheme',
      { custom_security_schemes: { OAuth2: {} } },
      ['OPENAPI_SCHEME /custom_security_schemes/OAuth2'],
    ],
    [
      'does not check fields of the wrong type',
      { request_definition: 5, response_definition: [], custom_security_schemes: 'x' },
      [],
    ],
  ] as [string, object, string[], object?][]) {
    it(sentence, () => deepEqual(told(settings, service).sort(), [...expected].sort()));
  }

  it('rejects a duplicate operation_id, and reports both locations', () => {
    const { errors } = normalize({
      version: 3,
      endpoints: [documented('/a', { operation_id: 'x' }), documented('/b', { operation_id: 'x' })],
    });
    const at = (index: number) => `/endpoints/${index}/extra_config/documentation~1openapi/operation_id`;
    deepEqual(
      errors.map(({ code, pointer, related }) => [code, pointer, related]),
      [['OPENAPI_OPERATION_ID', at(1), [at(0)]]],
    );
  });
});
