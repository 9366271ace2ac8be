import { type Data, type DataObject, isObject, joinPointer } from '#contract';
import type { Resolver } from './resolver.ts';

/** A parameter, independent of the document's version. */
export interface SpecParameter {
  readonly name: string;
  readonly in: string;
  readonly description: string | undefined;
  readonly required: boolean;
  /** Schema of the parameter, resolved except for references inside it. */
  readonly schema: DataObject;
  readonly example: Data | undefined;
  readonly style: string | undefined;
  /** Whether the variable matches the whole remaining path. */
  readonly isWildcard: boolean;
}

/** A body with one media type. */
export interface SpecMedia {
  readonly type: string;
  /** Schema as written; may be a reference. */
  readonly schema: Data | undefined;
  readonly example: Data | undefined;
  readonly examples: DataObject | undefined;
}

export interface SpecResponse {
  readonly status: string;
  readonly description: string | undefined;
  readonly media: readonly SpecMedia[];
}

/** An operation, independent of the document's version. */
export interface SpecOperation {
  /** Method in uppercase. */
  readonly method: string;
  readonly path: string;
  /** JSON pointer of the operation in the document. */
  readonly pointer: string;
  readonly summary: string | undefined;
  readonly description: string | undefined;
  readonly operationId: string | undefined;
  readonly tags: readonly string[];
  readonly parameters: readonly SpecParameter[];
  readonly bodyDescription: string | undefined;
  readonly body: readonly SpecMedia[];
  readonly responses: readonly SpecResponse[];
  /** Names of the required schemes, all of them together; empty for none. */
  readonly security: readonly string[];
  /** Possibly relative addresses, from the most specific level that declares any. */
  readonly servers: readonly DataObject[];
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** Returns all operations of a document, in order. */
export function operationsOf(resolver: Resolver): SpecOperation[] {
  const { document } = resolver;
  const paths = isObject(document['paths']) ? Object.keys(document['paths']) : [];
  return paths
    .filter((path) => path.startsWith('/'))
    .flatMap((path) => {
      const item = resolver.object((document['paths'] as DataObject)[path]);
      if (!item) return [];
      return Object.keys(item)
        .filter((method) => METHODS.has(method))
        .flatMap((method) => operationOf(resolver, path, method, item) ?? []);
    });
}

function operationOf(resolver: Resolver, path: string, method: string, item: DataObject): SpecOperation | undefined {
  const { document } = resolver;
  const operation = resolver.object(item[method]);
  if (!operation) return undefined;
  const written = parametersOf(resolver, item, operation);
  const consumes = namesIn(operation['consumes'] ?? document['consumes']);
  const produces = namesIn(operation['produces'] ?? document['produces']);
  const requestBody = resolver.object(operation['requestBody']);
  const old = bodyOfSwagger(resolver, written, consumes);
  return {
    method: method.toUpperCase(),
    path,
    pointer: joinPointer('/paths', path, method),
    summary: text(operation['summary']) ?? text(item['summary']),
    description: text(operation['description']) ?? text(item['description']),
    operationId: text(operation['operationId']),
    tags: namesIn(operation['tags']),
    parameters: written
      .filter((each) => each['in'] !== 'body' && each['in'] !== 'formData')
      .map((each) => parameterOf(resolver, each)),
    bodyDescription: text(requestBody?.['description']) ?? old.description,
    body: requestBody ? mediaOf(resolver, requestBody['content']) : old.media,
    responses: responsesOf(resolver, operation, produces),
    security: securityOf(operation['security'] ?? document['security']),
    servers: resolver.objects(operation['servers'] ?? item['servers'] ?? document['servers']),
  };
}

/** Merges the parameters of the path and the operation; the operation takes precedence. */
function parametersOf(resolver: Resolver, item: DataObject, operation: DataObject): DataObject[] {
  const all = [...resolver.objects(item['parameters']), ...resolver.objects(operation['parameters'])];
  const known = new Map<string, DataObject>();
  for (const parameter of all) {
    const { name, in: where } = parameter;
    if (typeof name === 'string' && typeof where === 'string') known.set(`${where} ${name}`, parameter);
  }
  return [...known.values()];
}

function parameterOf(resolver: Resolver, written: DataObject): SpecParameter {
  const [, content] = resolver.members(written['content'])[0] ?? [];
  // In Swagger 2.0, the type of a parameter is next to its name instead of in a schema.
  const schema = resolver.object(written['schema'] ?? content?.['schema']) ?? written;
  return {
    name: written['name'] as string,
    in: written['in'] as string,
    description: text(written['description']),
    required: written['required'] === true,
    schema,
    example: resolver.sample(written['example'] ?? schema['example']),
    style: text(written['style']),
    isWildcard: written['x-wildcard'] === true,
  };
}

/** Reads the body from Swagger 2.0, where it is a parameter or the fields of a form. */
function bodyOfSwagger(resolver: Resolver, parameters: readonly DataObject[], consumes: readonly string[]) {
  const body = parameters.find((each) => each['in'] === 'body');
  if (body) {
    const types = consumes.length > 0 ? consumes : ['application/json'];
    const media = types.map((type) => ({ type, schema: body['schema'], example: undefined, examples: undefined }));
    return { description: text(body['description']), media };
  }
  const fields = parameters.filter((each) => each['in'] === 'formData');
  if (fields.length === 0) return { description: undefined, media: [] };
  const isFile = fields.some((each) => each['type'] === 'file');
  const type = isFile ? 'multipart/form-data' : (consumes[0] ?? 'application/x-www-form-urlencoded');
  const required = fields.filter((each) => each['required'] === true).map((each) => each['name']!);
  const schema: DataObject = {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map((each) => [each['name'] as string, fieldSchema(resolver, each)])),
  };
  return { description: undefined, media: [{ type, schema, example: undefined, examples: undefined }] };
}

function fieldSchema(resolver: Resolver, { type, format, description, enum: values, items }: DataObject): Data {
  return {
    type: type === 'file' || type === undefined ? 'string' : type,
    ...(type === 'file' ? { format: 'binary' } : format !== undefined && { format }),
    ...(description !== undefined && { description }),
    ...(values !== undefined && { enum: values }),
    ...(items !== undefined && { items: resolver.object(items) ?? {} }),
  };
}

function mediaOf(resolver: Resolver, content: Data | undefined): SpecMedia[] {
  return resolver.members(content).map(([type, { schema, example, examples }]) => ({
    type,
    schema,
    example: resolver.sample(example),
    examples: examples === undefined ? undefined : Object.fromEntries(samplesIn(resolver, examples)),
  }));
}

/** Returns named examples; their values may be references in some documents. */
function samplesIn(resolver: Resolver, examples: Data): [name: string, example: DataObject][] {
  return resolver.members(examples).map(([name, example]) => {
    const value = resolver.sample(example['value']);
    return [name, value === undefined ? example : { ...example, value }];
  });
}

function responsesOf(resolver: Resolver, operation: DataObject, produces: readonly string[]): SpecResponse[] {
  return resolver.members(operation['responses']).map(([status, response]) => {
    const { description, content, schema, examples } = response;
    const types = produces.length > 0 ? produces : ['application/json'];
    const samples = isObject(examples ?? null) ? (examples as DataObject) : {};
    const old = schema === undefined ? Object.keys(samples) : types;
    return {
      status,
      description: text(description),
      media:
        content !== undefined
          ? mediaOf(resolver, content)
          : old.map((type) => ({
              type,
              schema,
              example: Object.hasOwn(samples, type) ? samples[type] : undefined,
              examples: undefined,
            })),
    };
  });
}

/** Returns the first alternative that requires something; empty if one of the alternatives requires nothing. */
function securityOf(security: Data | undefined): string[] {
  const choices = (Array.isArray(security) ? security : []).filter(isObject).map((choice) => Object.keys(choice));
  if (choices.some((names) => names.length === 0)) return [];
  return choices[0] ?? [];
}

function namesIn(list: Data | undefined): string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

function text(value: Data | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
