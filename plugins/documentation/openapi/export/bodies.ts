import { STATUS_CODES } from 'node:http';
import { type Data, type DataObject, type EndpointConfig, type EndpointContract, isObject } from '#contract';
import { componentOf, has, refusalsOf } from '../../lib/components.ts';
import { takesBody } from '../../lib/endpoints.ts';
import type { BodyDefinition, OpenApiSettings } from '../schema.ts';
import { schemaOf } from '../written-schema.ts';
import { Schemas } from './schemas.ts';

/** Media types of each output encoding; encodings that are not listed pass the backend's type. */
const outputs: Readonly<Record<string, readonly string[]>> = {
  json: ['application/json'],
  'fast-json': ['application/json'],
  'json-collection': ['application/json'],
  safejson: ['application/json'],
  yaml: ['application/yaml'],
  xml: ['application/xml'],
  string: ['text/plain'],
  sse: ['text/event-stream'],
  ndjson: ['application/x-ndjson'],
  eventstream: ['application/vnd.amazon.eventstream'],
  negotiate: ['application/json', 'application/xml', 'application/yaml', 'text/plain'],
};

/** Describes the request body; undefined if none is expected. @param fromValidator also derive the body from a validator's schema. */
export function describeRequestBody(
  { method, extra_config: components }: EndpointConfig,
  { request_definition: definitions = [] }: OpenApiSettings,
  schemas: Schemas,
  name: string,
  fromValidator: boolean,
): DataObject | undefined {
  if (!takesBody(method) && !(method === 'DELETE' && definitions.length > 0)) return undefined;
  const validated = fromValidator ? componentOf(components, 'validation/json-schema') : undefined;
  const content = new Map<string, DataObject>();
  if (validated) content.set('application/json', { schema: schemas.add(validated, `${name}Request`) });
  for (const definition of definitions) {
    const { content_type: type } = definition;
    content.set(type, { ...describeMedia(definition, schemas, `${name}Request`), ...content.get(type) });
  }
  if (content.size === 0) content.set('*/*', {});
  const description = definitions.find((definition) => definition.description !== undefined)?.description;
  return {
    ...(description !== undefined && { description }),
    ...(validated && { required: true }),
    content: Object.fromEntries(content),
  };
}

export interface DescribedResponses {
  /** Whether to omit responses that neither the configuration nor the contract describes. */
  readonly onlyDefined: boolean;
  readonly contract: EndpointContract | undefined;
}

/** Describes all responses, by status. */
export function describeResponses(
  endpoint: EndpointConfig,
  settings: OpenApiSettings,
  schemas: Schemas,
  name: string,
  { onlyDefined, contract }: DescribedResponses,
): DataObject {
  const types = outputs[endpoint.output_encoding] ?? ['*/*'];
  const statuses = onlyDefined ? [] : usualStatuses(endpoint);
  const responses = new Map<string, DataObject>();
  for (const status of statuses) responses.set(String(status), { description: phraseOf(String(status)) });
  const usual = responses.get('200');
  if (usual) {
    const sample: DataObject = settings.example === undefined ? {} : { example: settings.example as Data };
    usual['content'] = Object.fromEntries(types.map((type) => [type, sample]));
  }
  const contracted = new Map(
    (contract?.responses ?? []).map((response) => {
      const status = String(response.status);
      return [status, describeContracted(response, schemas, `${name}Response${status}`)];
    }),
  );
  for (const [status, described] of contracted) responses.set(status, described);
  for (const [status, definition] of Object.entries(settings.response_definition ?? {})) {
    if (!isStatus(status) || typeof definition === 'string') continue;
    const list = [definition].flat();
    const described = describeResponse(list, status, types[0]!, schemas, `${name}Response${status}`);
    responses.set(status, { ...contracted.get(status), ...described });
  }
  if (responses.size === 0) responses.set('default', { description: phraseOf('default') });
  // The statuses need no sorting, because JavaScript iterates over integer keys first, in ascending order.
  return Object.fromEntries(responses);
}

function describeContracted(
  { status, contentTypes, schema }: EndpointContract['responses'][number],
  schemas: Schemas,
  name: string,
): DataObject {
  const media = (type: string): DataObject =>
    schema !== null && isJson(type) ? { schema: schemas.add(schema, name) } : {};
  return {
    description: phraseOf(String(status)),
    ...(contentTypes.length > 0 && { content: Object.fromEntries(contentTypes.map((type) => [type, media(type)])) }),
  };
}

/** Returns whether a media type is that of JSON documents. */
function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(type);
}

/** Returns the statuses that the configuration produces. */
function usualStatuses(endpoint: EndpointConfig): number[] {
  return [has(endpoint.extra_config, 'websocket') ? 101 : 200, ...refusalsOf(endpoint), 500];
}

/** Returns whether a key of `response_definition` is a status rather than a comment. */
export function isStatus(key: string): boolean {
  return key === 'default' || /^[1-5]\d\d$/.test(key);
}

function phraseOf(status: string): string {
  return STATUS_CODES[status] ?? (status === 'default' ? 'Any other response' : `Status ${status}`);
}

function describeResponse(
  definitions: readonly BodyDefinition[],
  status: string,
  usualType: string,
  schemas: Schemas,
  name: string,
): DataObject {
  const description = definitions.find((definition) => definition.description)?.description;
  const content = definitions.flatMap((definition) => {
    const { content_type: type } = definition;
    const media = describeMedia(definition, schemas, name);
    return type !== undefined || Object.keys(media).length > 0 ? [[type ?? usualType, media] as const] : [];
  });
  return {
    description: description ?? phraseOf(status),
    ...(content.length > 0 && { content: Object.fromEntries(content) }),
  };
}

function describeMedia(definition: BodyDefinition, schemas: Schemas, name: string): DataObject {
  const { ref, example_schema: schema } = definition;
  return {
    ...(ref !== undefined && { schema: Schemas.reference(ref) }),
    ...(ref === undefined && schema !== undefined && { schema: schemas.add(schemaOf(schema), name) }),
    ...examplesOf(definition),
  };
}

/** Returns one example, or several by name. */
export function examplesOf({ example, examples }: Pick<BodyDefinition, 'example' | 'examples'>): DataObject {
  if (example !== undefined) return { example: example as Data };
  if (!isObject(examples) || Object.keys(examples).length === 0) return {};
  const named = Object.entries(examples).map(([name, value]) => [name, isExample(value) ? value : { value }]);
  return { examples: Object.fromEntries(named) };
}

/** Returns whether a value is an OpenAPI example object rather than a bare value, which is also allowed. */
function isExample(value: Data): boolean {
  return isObject(value) && ('value' in value || 'externalValue' in value || '$ref' in value);
}
