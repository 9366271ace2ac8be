import { type Data, type DataObject, type EndpointConfig, isObject } from '#contract';
import { type Credential, componentOf, credentialsOf } from '../lib/components.ts';
import { namesIn, plainPath, takesBody, variablesOf, withVariables } from '../lib/endpoints.ts';
import { sampleOf } from './sample.ts';
import type { ItemSettings } from './schema.ts';

const ORIGIN = '{{SCHEMA}}://{{HOST}}:{{PORT}}';

/** The parts of a configuration that determine authentication. */
export interface Around {
  readonly extra_config: Readonly<DataObject>;
}

/** Creates the item of an endpoint: a request ready to be filled in. It contains no secrets of the configuration. */
export function itemOf(endpoint: EndpointConfig, settings: ItemSettings, service: Around): DataObject {
  const path = plainPath(endpoint);
  const { description } = settings;
  const credentials = credentialsOf(endpoint, service);
  const body = bodyOf(endpoint);
  const auth = credentials.map(authOf).find((each) => each !== undefined);
  const header = [
    ...credentials.flatMap(credentialHeader),
    ...namesIn(endpoint.input_headers).map((name) => ({ key: name, value: '', disabled: true })),
  ];
  return {
    name: settings.name ?? nameOf(path),
    request: {
      method: endpoint.method,
      ...(description !== undefined && { description }),
      ...(auth && { auth }),
      header,
      ...(body !== undefined && { body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } } }),
      url: urlOf(path, namesIn(endpoint.input_query_strings)),
    },
    response: [],
  };
}

/** Creates a GET request for a path without variables. */
export function plainItem(name: string, path: string): DataObject {
  return { name, request: { method: 'GET', header: [], url: urlOf(path, []) }, response: [] };
}

/** Returns the last segment of the path, without braces. */
function nameOf(path: string): string {
  return path.split('/').at(-1)!.replace(/[{}]/g, '') || path;
}

function urlOf(path: string, query: readonly string[]): DataObject {
  const segments = path.split('/').slice(1).map(segmentOf);
  // Parts of a segment stay as text, because Postman supports only whole segments as variables.
  const variables = segments.flatMap((segment) =>
    segment.startsWith(':') ? [{ key: segment.slice(1), value: '' }] : [],
  );
  const search = query.map((name) => `${encodeURIComponent(name)}=`).join('&');
  return {
    raw: `${ORIGIN}/${segments.join('/')}${search === '' ? '' : `?${search}`}`,
    protocol: '{{SCHEMA}}',
    host: ['{{HOST}}'],
    port: '{{PORT}}',
    path: segments,
    ...(query.length > 0 && { query: query.map((key) => ({ key, value: '', disabled: true })) }),
    ...(variables.length > 0 && { variable: variables }),
  };
}

function segmentOf(segment: string): string {
  const [name] = variablesOf(segment);
  return name !== undefined && segment === `{${name}}` ? `:${name}` : withVariables(segment, (each) => `{{${each}}}`);
}

/** Converts a credential to a Postman authorization. */
function authOf(credential: Credential): DataObject | undefined {
  if (credential.kind === 'bearer') return { type: 'bearer', bearer: fields({ token: '{{TOKEN}}' }) };
  if (credential.kind === 'basic') {
    return { type: 'basic', basic: fields({ username: '{{USER}}', password: '{{PASSWORD}}' }) };
  }
  const { kind, of, name } = credential;
  if (of !== 'key') return undefined;
  const value = name.toLowerCase() === 'authorization' ? 'Bearer {{API_KEY}}' : '{{API_KEY}}';
  return { type: 'apikey', apikey: fields({ key: name, value, in: kind }) };
}

function fields(values: Readonly<Record<string, string>>): Data[] {
  return Object.entries(values).map(([key, value]) => ({ key, value, type: 'string' }));
}

/** Returns headers for tokens that Postman would send elsewhere. */
function credentialHeader(credential: Credential): DataObject[] {
  if (credential.kind === 'cookie') return [{ key: 'Cookie', value: `${credential.name}={{TOKEN}}` }];
  if (credential.kind === 'header' && credential.of === 'token')
    return [{ key: credential.name, value: 'Bearer {{TOKEN}}' }];
  return [];
}

/** Returns the documented example of the body, or a sample that matches its validator; undefined without a body. */
function bodyOf({ method, extra_config: components }: EndpointConfig): string | undefined {
  if (!takesBody(method)) return undefined;
  const { request_definition: definitions } = componentOf(components, 'documentation/openapi') ?? {};
  const bodies = (Array.isArray(definitions) ? definitions : []).filter(isObject);
  const example = bodies.find((body) => body['example'] !== undefined)?.['example'];
  if (typeof example === 'string') return example;
  if (example !== undefined) return JSON.stringify(example, null, 2);
  const schema = componentOf(components, 'validation/json-schema');
  return schema ? JSON.stringify(sampleOf(schema), null, 2) : '';
}
