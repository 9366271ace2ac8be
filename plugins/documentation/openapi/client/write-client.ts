import { type Data, type DataObject, isObject } from '#contract';
import { lookUp } from '../../lib/references.ts';
import { capital, Names } from './names.ts';
import { runtime } from './runtime.ts';
import { indented, keyOf, type NameOf, typeOf, union } from './types.ts';

/** Parts of a generated module for one operation. */
interface WrittenOperation {
  readonly types: readonly string[];
  /** Member of the interface `Client`. */
  readonly member: string;
  /** Member of the object that `createClient` returns. */
  readonly implementation: string;
}

/** Writes an OpenAPI 3.1 document, made for clients, as a TypeScript module without dependencies. */
export function writeClient(document: DataObject): string {
  const names = new Names();
  const schemas = objectOf(objectOf(document['components'])['schemas']);
  const named = new Map(Object.keys(schemas).map((name) => [name, names.type(name)]));
  const nameOf: NameOf = (schema) => named.get(schema) ?? 'unknown';
  const operations = Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, operation]) =>
      writeOperation({ method: method.toUpperCase(), path, operation: objectOf(operation), document }, names, nameOf),
    ),
  );
  const declared = Object.entries(schemas).map(
    ([name, schema]) => `export type ${named.get(name)!} = ${typeOf(schema, nameOf)};`,
  );
  const { title } = objectOf(document['info']);
  return [
    `// Client of ${oneLine(String(title))}, written by sluice client typescript. Changes are lost when it is written again.`,
    ...declared,
    ...operations.flatMap(({ types }) => types),
    [
      '/** The endpoints of the gateway. */',
      'export interface Client {',
      ...operations.map(({ member }) => member),
      '}',
    ].join('\n'),
    [
      '/** Creates a client of the gateway. */',
      'export function createClient(options: ClientOptions): Client {',
      '  return {',
      ...operations.map(({ implementation }) => implementation),
      '  };',
      '}',
    ].join('\n'),
    runtime,
  ].join('\n\n');
}

interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: DataObject;
  readonly document: DataObject;
}

function writeOperation(
  { method, path, operation, document }: Described,
  names: Names,
  nameOf: NameOf,
): WrittenOperation {
  const name = names.function(String(operation['operationId']));
  const [requestName, responseName] = [names.type(`${capital(name)}Request`), names.type(`${capital(name)}Response`)];
  const { groups, contentType } = requestGroups(operation, document, nameOf);
  const isOptional = groups.every(({ isRequired }) => !isRequired);
  const fields = groups.map(
    ({ key, type, isRequired }) => `  readonly ${key}${isRequired ? '' : '?'}: ${indented(type, '  ')};`,
  );
  const request = ['{', ...fields, '}'].join('\n');
  const statuses = Object.keys(objectOf(operation['responses'])).filter((status) => status !== 'default');
  const isOpen = statuses.length === 0 || Object.hasOwn(objectOf(operation['responses']), 'default');
  const template = isWildcard(operation) ? path.replace(/\{wildcard\}$/, '{wildcard*}') : path;
  const endpoint = { method, path: template, statuses: isOpen ? null : statuses.map(Number), contentType };
  const given = groups.length === 0 ? '' : `request${isOptional ? '?' : ''}: ${requestName}, `;
  const about = [operation['summary'], operation['description'], `${method} ${path}`].filter(
    (text) => text !== undefined,
  );
  const parameters = `${groups.length === 0 ? '' : 'request, '}requestOptions`;
  const sent = groups.length === 0 ? '{}' : isOptional ? 'request ?? {}' : 'request';
  return {
    types: [
      ...(groups.length === 0 ? [] : [`export interface ${requestName} ${request}`]),
      `export type ${responseName} =${responseTypes(operation, isOpen, nameOf)};`,
    ],
    member: `${comment(about.map(String), '  ')}\n  ${name}(${given}options?: RequestOptions): Promise<${responseName}>;`,
    implementation: `    ${name}: (${parameters}) =>\n      send(options, ${JSON.stringify(endpoint)}, ${sent}, requestOptions ?? {}) as Promise<${responseName}>,`,
  };
}

function isWildcard({ parameters }: DataObject): boolean {
  return Array.isArray(parameters) && parameters.some((parameter) => objectOf(parameter)['x-wildcard'] === true);
}

/** A part of a request: path, query, headers or body. */
interface Group {
  readonly key: string;
  readonly type: string;
  readonly isRequired: boolean;
}

function requestGroups(operation: DataObject, document: DataObject, nameOf: NameOf) {
  const listed = Array.isArray(operation['parameters']) ? operation['parameters'] : [];
  const parameters = listed.map((parameter) => {
    const { $ref: reference } = objectOf(parameter);
    return objectOf(typeof reference === 'string' ? lookUp(document, reference) : parameter);
  });
  const groups: Group[] = [];
  for (const [place, key] of [
    ['path', 'path'],
    ['query', 'query'],
    ['header', 'headers'],
  ] as const) {
    const own = parameters.filter((parameter) => parameter['in'] === place);
    const fields = own.map((parameter) => fieldOf(parameter, nameOf));
    if (place === 'query' && operation['x-open-query'] === true) fields.push('readonly [name: string]: QueryValue');
    const isRequired = own.some((parameter) => parameter['required'] === true);
    if (fields.length > 0) groups.push({ key, type: `{ ${fields.join('; ')} }`, isRequired });
  }
  const { content, required } = objectOf(operation['requestBody']);
  const media = Object.entries(objectOf(content));
  const [contentType, described] = media.find(([type]) => isJson(type)) ?? media[0] ?? [null, undefined];
  if (contentType !== null) {
    const type = isJson(contentType) ? typeOf(objectOf(described)['schema'], nameOf) : 'BodyInit';
    groups.push({ key: 'body', type, isRequired: required === true });
  }
  return { groups, contentType };
}

/** Types of values that are written as text. */
const textTypes: Readonly<Record<string, string>> = { string: 'string | number', integer: 'number', number: 'number' };

function fieldOf({ name, required, schema, in: place }: DataObject, nameOf: NameOf): string {
  const type = objectOf(schema)['type'];
  const isText = typeof type === 'string' && Object.hasOwn(textTypes, type) && objectOf(schema)['enum'] === undefined;
  const written = isText ? textTypes[type]! : typeOf(schema, nameOf);
  const values = place === 'query' && type === 'array' ? 'readonly (string | number | boolean)[]' : written;
  const usable = type === 'object' || values === 'unknown' ? 'string' : values;
  return `readonly ${keyOf(String(name))}${required === true ? '' : '?'}: ${usable}${required === true ? '' : ' | undefined'}`;
}

function responseTypes(operation: DataObject, isOpen: boolean, nameOf: NameOf): string {
  if (isOpen) return ' { readonly status: number; readonly headers: Headers; readonly body: unknown }';
  return Object.entries(objectOf(operation['responses']))
    .map(([status, response]) => {
      const media = Object.entries(objectOf(objectOf(response)['content']));
      const body = media.length === 0 ? 'unknown' : union(media.map(([type, each]) => bodyType(type, each, nameOf)));
      return `\n  | { readonly status: ${status}; readonly headers: Headers; readonly body: ${indented(body, '    ')} }`;
    })
    .join('');
}

/** Type of a response body as the client reads it. */
function bodyType(type: string, described: Data, nameOf: NameOf): string {
  if (isJson(type)) return typeOf(objectOf(described)['schema'], nameOf);
  if (/^(?:text\/event-stream|application\/x-ndjson)$/.test(type)) return 'ReadableStream<Uint8Array> | null';
  if (type === '*/*') return 'unknown';
  return /^(?:text\/|application\/(?:xml|yaml)$)|\+xml$/.test(type) ? 'string | undefined' : 'Blob';
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json(?:;|$)/i.test(type);
}

function comment(lines: readonly string[], indent: string): string {
  const safe = lines.flatMap((line) => line.split(/\r?\n/)).map((line) => line.replaceAll('*/', '*\\/').trimEnd());
  if (safe.length === 1) return `${indent}/** ${safe[0]} */`;
  return [`${indent}/**`, ...safe.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function objectOf(value: Data | undefined): DataObject {
  return isObject(value) ? value : {};
}
