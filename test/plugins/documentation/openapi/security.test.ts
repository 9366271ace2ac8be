import { deepEqual, equal, match } from 'node:assert/strict';
import { describeApi } from '../../../../plugins/documentation/openapi/export/describe-api.ts';
import { configOf, type Document, describedAs, endpoint, OPENAPI, operationOf } from '../fixture.ts';

const validator = { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' };

/** Security requirement and schemes of one endpoint. */
function requested(components: object, service: object = {}, options = {}): [Document, Document] {
  const document = describedAs(configOf([endpoint('/a', {}, components)], { extra_config: service }), options);
  return [document.paths['/a'].get.security, document.components?.securitySchemes];
}

describe('authentication in OpenAPI documents', () => {
  it('is absent without authentication', () => deepEqual(requested({}), [undefined, undefined]));

  it('is a bearer token for auth/validator, under the configured name', () => {
    const bearer = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
    deepEqual(requested({ 'auth/validator': validator }), [[{ 'KrakenD-JWT': [] }], { 'KrakenD-JWT': bearer }]);
    deepEqual(requested({ 'auth/validator': validator }, { [OPENAPI]: { jwt_key: 'Token' } }), [
      [{ Token: [] }],
      { Token: bearer },
    ]);
  });

  it('is a cookie or another header if the token is read from there', () => {
    deepEqual(requested({ 'auth/validator': { ...validator, cookie_key: 'jwt' } }), [
      [{ SESSIONID: [] }],
      { SESSIONID: { type: 'apiKey', in: 'cookie', name: 'jwt' } },
    ]);
    deepEqual(requested({ 'auth/validator': { ...validator, auth_header_name: 'X-Token' } })[1], {
      'KrakenD-JWT-X-Token': { type: 'apiKey', in: 'header', name: 'X-Token' },
    });
  });

  it('lists roles and scopes', () => {
    const demanding = {
      ...validator,
      roles: ['a', 'b'],
      scopes: ['x', 'y'],
      scopes_key: 'scope',
      scopes_matcher: 'all',
    };
    match(
      operationOf(endpoint('/a', {}, { 'auth/validator': demanding })).description,
      /^Requires one of the roles a, b\.\n\nRequires all of the scopes x, y\.$/,
    );
  });

  it('includes the requirements of several components', () => {
    const { document } = describeApi({
      name: '',
      tls: undefined,
      extra_config: { 'auth/api-keys': { strategy: 'query_string', identifier: 'k', keys: [{ key: 'very-secret' }] } },
      endpoints: [
        { ...configOf([endpoint('/a')]).endpoints[0]!, extra_config: { 'auth/api-keys': {}, 'auth/basic': {} } },
      ],
    });
    const { paths, components } = document as Document;
    deepEqual(paths['/a'].get.security, [{ 'ApiKey-query-k': [], Basic: [] }]);
    deepEqual(components.securitySchemes, {
      'ApiKey-query-k': { type: 'apiKey', in: 'query', name: 'k' },
      Basic: { type: 'http', scheme: 'basic' },
    });
    equal(JSON.stringify(document).includes('very-secret'), false);
  });

  it("contains the root's security schemes that the endpoint references", () => {
    const scheme = { type: 'http', scheme: 'digest' };
    const service = { [OPENAPI]: { custom_security_schemes: { OAuth2: scheme } } };
    const own = { [OPENAPI]: { custom_security_schemes: { OAuth2: {} } } };
    deepEqual(requested(own, service), [[{ OAuth2: [] }], { OAuth2: scheme }]);
  });

  it('describes client certificates as a scheme in 3.1 and as a note in 3.0', () => {
    const tls = {
      keys: [{ public_key: 'test/corpus/files/shop.pem', private_key: 'test/corpus/files/shop.key' }],
      enable_mtls: true,
    };
    const config = configOf([endpoint('/a')], { tls });
    match(describedAs(config).info.description, /certificate/);
    const { paths, components } = describedAs(config, { version: '3.1' });
    deepEqual(
      [paths['/a'].get.security, components.securitySchemes.MutualTLS.type],
      [[{ MutualTLS: [] }], 'mutualTLS'],
    );
  });
});
