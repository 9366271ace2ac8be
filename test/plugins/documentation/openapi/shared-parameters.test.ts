import { deepEqual } from 'node:assert/strict';
import { describeApi } from '../../../../plugins/documentation/openapi/export/describe-api.ts';
import { toSwagger } from '../../../../plugins/documentation/openapi/export/to-swagger.ts';
import { startGateway } from '../../../support/gateway.ts';
import { normalize } from '../../../support/known.ts';
import { refusalsOf } from '../../../support/modules.ts';
import { configOf, type Document, describedAs, documented, endpoint, OPENAPI, validate } from '../fixture.ts';

const page = { name: 'page', in: 'query', schema: { type: 'integer' } };
const trace = { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string' } };
const session = { name: 'sid', in: 'cookie', schema: { type: 'string' } };
const service = (components_parameters: unknown) => ({ extra_config: { [OPENAPI]: { components_parameters } } });
const shared = service({ page, trace, session });
const lists = { input_query_strings: ['page', 'size'], input_headers: ['x-trace'] };
const reference = (name: string) => ({ $ref: `#/components/parameters/${name}` });

describe('parameters that an OpenAPI document shares', () => {
  const documentOf = (settings: object, more: object = lists): Document =>
    describedAs(configOf([documented('/a', settings, more)], shared));
  const codesOf = (settings: object, root: object): string[] =>
    normalize({ version: 4, endpoints: [documented('/a', settings, lists)], ...root }).errors.map(
      ({ code, pointer }) => `${code} ${pointer.split('documentation~1openapi').at(-1)}`,
    );

  it('are defined at the root, and replace parameters of an endpoint with the same name and location', async () => {
    const document = documentOf({ components_parameters: ['page', 'trace'] });
    deepEqual(document.components.parameters, { page, trace, session });
    const { parameters } = document.paths['/a'].get;
    deepEqual(parameters.slice(1), [reference('page'), reference('trace')]);
    deepEqual([parameters[0].name, parameters[0].in], ['size', 'query']);
    await validate(document);
  });

  it('are not added to endpoints that do not list them', async () => {
    const document = describedAs(configOf([endpoint('/a', { input_query_strings: ['page'] })], shared));
    deepEqual(
      document.paths['/a'].get.parameters.map((parameter: Document) => parameter.name),
      ['page'],
    );
    await validate(document);
  });

  it('are reported if the endpoint does not forward them', () => {
    const config = configOf([documented('/a', { components_parameters: ['page', 'trace', 'session'] })], shared);
    deepEqual(
      describeApi(config).warnings.map(({ pointer, message }) => [pointer.split('openapi').at(-1), message]),
      [
        ['/components_parameters/0', `"page" describes the query parameter 'page', which the endpoint does not have`],
        [
          '/components_parameters/1',
          `"trace" describes the header parameter 'X-Trace', which the endpoint does not have`,
        ],
      ],
    );
  });

  it('are repeated in each operation in Swagger 2.0; cookies are omitted', () => {
    const document = documentOf({ components_parameters: ['page', 'session'] }, { input_query_strings: ['page'] });
    const { paths } = toSwagger(document, () => {}) as Document;
    deepEqual(paths['/a'].get.parameters, [{ name: 'page', in: 'query', type: 'integer' }]);
  });

  for (const [what, settings, root, expected] of [
    ['an unknown name', { components_parameters: ['page', 'x'] }, shared, 'OPENAPI_REF /components_parameters/1'],
    ['a name of a prototype', { components_parameters: ['__proto__'] }, shared, 'OPENAPI_REF /components_parameters/0'],
    ['objects at an endpoint', { components_parameters: { page } }, shared, 'OPENAPI_REF /components_parameters'],
    ['names at the service', {}, service(['page']), 'OPENAPI_REF /components_parameters'],
  ] as const) {
    it(`are rejected for ${what}`, () => deepEqual(codesOf(settings, root), [expected]));
  }

  for (const [what, parameters, expected] of [
    ['a parameter without a location', { a: { name: 'a' } }, 'SCHEMA_REQUIRED /a'],
    ['another location', { a: { ...page, in: 'body' } }, 'SCHEMA_ENUM /a/in'],
    ['a text', { a: 'page' }, 'SCHEMA_TYPE /a'],
  ] as const) {
    it(`are rejected for ${what}`, async () => {
      const errors = await refusalsOf(startGateway({ endpoints: [], ...service(parameters) }));
      deepEqual(
        errors.map(({ code, pointer }) => `${code} ${pointer.split('components_parameters').at(-1)}`),
        [expected],
      );
    });
  }
});
