import { deepEqual } from 'node:assert/strict';
import { createFolder, type Folder, sluice } from './command.ts';

/** Title, file content, and the expected output of `check`: `message → hint`, errors before warnings. */
type Row = readonly [title: string, content: unknown, ...said: string[]];

const backend = (fields: object = {}) => ({ url_pattern: '/', host: ['http://b.test'], ...fields });
const endpoint = (fields: object = {}) => ({ endpoint: '/a/{id}', backend: [backend()], ...fields });
const root = (fields: object = {}) => ({ version: 3, endpoints: [endpoint()], ...fields });
const onEndpoint = (fields: object) => root({ endpoints: [endpoint(fields)] });
const onBackend = (fields: object) => onEndpoint({ backend: [backend(fields)] });
const keys = [{ public_key: 'a.pem', private_key: 'a.key' }];

const variable = (name: string) => `\${${name}}`;

const INCLUDING = 'create flexible_config.json with {} in the working directory to include the file';
const INCLUDED = `'$ref' is read as a comment: no file is included → ${INCLUDING}`;
const METHODS = "'method' must be one of GET, POST, PUT, PATCH, DELETE, OPTIONS, QUERY, ANY";
const SCHEMES = 'http:// or https://; set "disable_host_sanitize": true if a component uses another protocol';
const RENDERING = 'set FC_ENABLE=1 in the environment to render the file as a template';
const filled = (name: string) => `set GATEWAY_ENV_INTERPOLATION=1 in the environment to have \${${name}} replaced`;

// biome-ignore format: one configuration and its message per line
const rows: readonly Row[] = [
  ['a duration of ten thousand years', root({ timeout: '99999999h' }), `'timeout' must be at most 999999h, found "99999999h"`],
  ['a component with a misspelled name', onEndpoint({ extra_config: { 'qos/ratelimit/endpoint': { max_rate: 1 } } }), 'unknown namespace "qos/ratelimit/endpoint" → supported in qos/ratelimit: qos/ratelimit/proxy, qos/ratelimit/router, qos/ratelimit/router/redis, qos/ratelimit/service, qos/ratelimit/service/redis, qos/ratelimit/tiered'],
  ['a component of KrakenD Enterprise that the gateway lacks', onEndpoint({ extra_config: { 'telemetry/instana': {} } }), `'telemetry/instana' is not supported yet → the component was replaced by "telemetry/opentelemetry"`],
  ['a component of a backend at the root', root({ extra_config: { 'ai/llm': {} } }), '"ai/llm" has no effect at service level: it belongs in the extra_config of a backend → move it to the extra_config of a backend'],
  ['a template that contains quotes', '{"version": 3, "host": ["{{ env "HOST" }}"]}', `templates are not rendered → ${RENDERING}`],
  ['a template in a host', root({ host: ['http://{{ env `HOST` }}'] }), `host http://{{ env \`HOST\` }} not valid: invalid host → ${RENDERING}`],
  ['a variable in a host', root({ host: [variable('HOST')] }), `host \${HOST} not valid: invalid host → ${filled('HOST')}`],
  ['a variable in place of a port', root({ port: variable('PORT') }), `'port' must be an integer, found "\${PORT}" → write a value here; the environment variable GATEWAY_PORT replaces it`],
  ['a variable in place of a host name', root({ name: '$SERVICE' }), '$SERVICE was not replaced: it is used literally → write a value here; the environment variable GATEWAY_NAME replaces it'],
  ['a variable in an address', onBackend({ url_pattern: `/${variable('TENANT')}/x` }), `{TENANT} is not declared by GET /a/{id} → ${filled('TENANT')}`],
  ['a host with another scheme', onBackend({ host: ['ftp://b.test'] }), `host ftp://b.test not valid: invalid host → ${SCHEMES}`],
  ['a host whose scheme is misspelled', onBackend({ host: ['htp://b.test'] }), 'host htp://b.test not valid: invalid host → "http://b.test"'],
  ['an unsanitized host with another scheme', onBackend({ host: ['ftp://b.test'], disable_host_sanitize: true }), 'host ftp://b.test must begin with http:// or https://'],
  ['an unsanitized host without a scheme', onBackend({ host: ['b.test'], disable_host_sanitize: true }), 'host b.test must begin with http:// or https:// → "http://b.test"'],
  ['discovered hosts with another scheme', onBackend({ host: ['b.test'], sd: 'dns', sd_scheme: 'ftp' }), 'the backend is called over http:// or https://, but sd_scheme is "ftp"'],
  ['several methods', onEndpoint({ methods: ['post', 'PUT'] }), `unknown key 'methods' in 'endpoints[0]' → one endpoint for each method, the first with "method": "POST", or "method": "ANY" for all methods`],
  ['an empty list of methods', onEndpoint({ methods: [] }), `unknown key 'methods' in 'endpoints[0]' → "method": "GET"`],
  ['several methods in place of one', onEndpoint({ method: ['GET', 'PUT'] }), `'method' must be a string, found a list → one endpoint for each method, the first with "method": "GET", or "method": "ANY" for all methods`],
  ['an unknown method', onEndpoint({ method: 'LIST' }), `${METHODS}, found "LIST" → one endpoint for each method, or "method": "ANY" for all methods`],
  ['the method HEAD', onEndpoint({ method: 'HEAD' }), `${METHODS}, found "HEAD" → use GET: its endpoint answers HEAD as well`],
  ['an unknown format in a JSON schema', onEndpoint({ method: 'POST', extra_config: { 'validation/json-schema': { type: 'string', format: 'emial' } } }), '"emial" is not a format that is checked → did you mean "email"?'],
  ['a header name with a wildcard', onEndpoint({ input_headers: ['X-*'] }), '"X-*" is a literal name, not a pattern: only "*" matches all → list every name'],
  ['a parameter name with a wildcard at a backend', onEndpoint({ input_query_strings: ['*'], backend: [backend({ input_query_strings: ['page*'] })] }), '"page*" is a literal name, not a pattern: only "*" matches all → list every name'],
  ['a JSONPath expression', onBackend({ allow: ['$.data'] }), '"$.data" contains the key "$": a path consists of keys separated by dots → data'],
  ['a path into a list', onBackend({ deny: ['items[0].price'] }), '"items[0].price" contains the key "items[0]": a path consists of keys separated by dots → items'],
  ['a JSON pointer as target', onBackend({ target: '/data/user' }), '"/data/user" contains the key "/data/user": a path consists of keys separated by dots → data.user'],
  ['endpoints in another file', root({ endpoints: { $ref: 'endpoints.json' } }), `'endpoints' must be a list, found an object → ${INCLUDING}`, INCLUDED],
  ['a variable without braces', root({ host: ['http://$HOST'] }), `host http://$HOST not valid: invalid host → write \${HOST} and set GATEWAY_ENV_INTERPOLATION=1 in the environment to have it replaced`],
  ['a reference into the document', root({ extra_config: { $ref: '#/components' } }), "'$ref' is read as a comment: no file is included → replace it with the value that it refers to"],
  ['an include by another key', root({ '@include': 'a.json' }), `'@include' is read as a comment: no file is included → create flexible_config.json with {"ref_key": "@include"} in the working directory to include the file`],
  ['an endpoint in another file', root({ endpoints: [{ $ref: 'a.json' }] }), "'endpoint' is missing in 'endpoints[0]'", "'backend' is missing in 'endpoints[0]'", INCLUDED],
  ['components in another file', root({ extra_config: { $ref: './components.json' } }), INCLUDED],
  ['a file of version 2', { version: 2, endpoints: [endpoint({ headers_to_pass: ['A'] })] }, 'version 2 is outdated: the file is read as version 3 → sluice migrate --write brings the file to version 3'],
  ['a field of version 2', onEndpoint({ headers_to_pass: ['A'] }), "'headers_to_pass' is an old name of 'input_headers': sluice migrate renames it → input_headers"],
  ['a field of version 2 whose current name is also set', onEndpoint({ headers_to_pass: ['A'], input_headers: ['A'] }), "'headers_to_pass' is an old name of 'input_headers', which is also set → input_headers"],
  ['a component of version 2', onEndpoint({ extra_config: { 'github.com/devopsfaith/krakend-ratelimit/juju/router': { max_rate: 1 } } }), "'github.com/devopsfaith/krakend-ratelimit/juju/router' is an old name of 'qos/ratelimit/router': sluice migrate renames it → qos/ratelimit/router"],
  ['certificate fields of older files', root({ tls: { public_key: 'a.pem', private_key: 'a.key' } }), 'a certificate next to keys is the old form: sluice migrate moves it into keys → "keys": [{"public_key": "…", "private_key": "…"}]'],
  ['the number of a TLS version', root({ tls: { keys, min_version: '1.2' } }), `'min_version' must be one of SSL3.0, TLS10, TLS11, TLS12, TLS13, found "1.2" → TLS12`],
  ['a TLS version as a number', root({ tls: { keys, min_version: 1.3 } }), "'min_version' must be a string, found 1.3 → TLS13"],
  ['a TLS version in another spelling', root({ tls: { keys, min_version: 'TLSv1.2' } }), `'min_version' must be one of SSL3.0, TLS10, TLS11, TLS12, TLS13, found "TLSv1.2" → TLS12`],
  ['a placeholder that is not declared', onBackend({ url_pattern: '/{user}' }), '{user} is not declared by GET /a/{id} → the endpoint declares {id}'],
  ['a backend without a host', onEndpoint({ backend: [{ url_pattern: '/' }] }), 'backend has no host → add "host" here or at the root'],
  ['a rate limit per client without a strategy', onEndpoint({ extra_config: { 'qos/ratelimit/router': { client_max_rate: 1 } } }), 'client_max_rate requires a strategy → write one of ip, header, param'],
  ['a period that is too short', onEndpoint({ extra_config: { 'qos/ratelimit/router': { max_rate: 1, every: '500ms' } } }), 'the period must be at least 1s → set the rate for a period of 1s'],
  ['server-sent events from a JSON backend', onEndpoint({ output_encoding: 'sse', backend: [backend({ encoding: 'json' })] }), `encoding "json" has no effect: with output 'sse' the backend must return sse itself`],
  ['plain text from a JSON backend', onEndpoint({ output_encoding: 'string' }), `output 'string' writes only the field "content", which no backend is known to return → Set "encoding": "string" on the backend to put its whole response into "content"`],
];

describe('for typical errors of new users, check', () => {
  let folder: Folder;
  before(() => {
    folder = createFolder();
  });
  after(() => folder.remove());

  for (const [title, content, ...said] of rows) {
    it(`explains how to correct ${title}`, async () => {
      const { out } = await sluice('check', '--format', 'json', '-c', folder.write('g.json', content));
      const { errors, warnings } = JSON.parse(out) as Record<string, { message: string; hint?: string }[]>;
      deepEqual(
        [...errors!, ...warnings!].map(({ message, hint }) => (hint === undefined ? message : `${message} → ${hint}`)),
        said,
      );
    });
  }
});
