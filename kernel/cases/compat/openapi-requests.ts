import { ConfigError, type Data, type DataObject, isObject, parsePointer } from '#contract';
import { decodeText, parseDocument, valueAt } from '../../config/index.ts';
import { fileErrorReason } from '../../contract/internal.ts';
import { readRegularFile } from '../../values/regular-file.ts';
import { toRequest } from '../compile-test.ts';
import { sampleData } from '../generate/sample-data.ts';
import type { TestRequest } from '../test.ts';

const methods = ['get', 'post', 'put', 'patch', 'delete', 'options', 'head'];

/** Maximum number of references that lead to other references. */
const MAX_STEPS = 20;

/** A request of an operation. */
export interface DescribedRequest {
  /** Method and path of the operation. */
  readonly name: string;
  readonly request: TestRequest;
}

/**
 * Creates a request for each operation of an OpenAPI document, in version 2 or 3: examples, or values generated from
 * schemas. The path of the first server precedes the paths of operations.
 * @throws ConfigError COMPAT_OPENAPI if the file cannot be read or has no operations; ConfigErrors for its syntax.
 */
export async function openApiRequests(file: string, seed: number): Promise<DescribedRequest[]> {
  const document = read(file);
  const results: DescribedRequest[] = [];
  const base = basePathOf(document);
  for (const [path, written] of Object.entries(objectIn(document, 'paths'))) {
    const item = resolve(document, written);
    for (const method of methods.filter((name) => Object.hasOwn(item, name))) {
      const operation = resolve(document, item[method]!);
      const parameters = [...listIn(item, 'parameters'), ...listIn(operation, 'parameters')];
      const request = await requestOf(document, { method, path: base + path, operation, parameters }, seed);
      results.push({ name: `${method.toUpperCase()} ${path}`, request });
    }
  }
  if (results.length === 0)
    throw new ConfigError('COMPAT_OPENAPI', '', `${file} has no operations of an OpenAPI document`);
  return results;
}

function read(file: string): DataObject {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(file);
  } catch (cause) {
    throw new ConfigError('COMPAT_OPENAPI', '', `cannot read ${file}: ${fileErrorReason(cause)}`, { cause });
  }
  const { data } = parseDocument(decodeText(bytes, file), file);
  return isObject(data as Data) ? (data as DataObject) : {};
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: DataObject;
  readonly parameters: readonly Data[];
}

async function requestOf(
  document: DataObject,
  { method, path, operation, parameters }: Operation,
  seed: number,
): Promise<TestRequest> {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let target = path;
  let body = await bodyOf(document, operation, seed);
  for (const written of parameters) {
    const parameter = resolve(document, written);
    const { in: place, name } = parameter;
    if (typeof name !== 'string') continue;
    const value = await givenOrGenerated(document, parameter, seed);
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? 1);
    if (place === 'path') target = target.replaceAll(`{${name}}`, () => encodeURIComponent(text));
    else if (place === 'query') query.append(name, text);
    else if (place === 'header') headers[name] = text.replace(/[^\x20-\x7e]/g, '');
    else if (place === 'body') body = value;
  }
  const search = query.size > 0 ? `?${query}` : '';
  return toRequest({ method, path: target + search, headers, ...(body !== undefined && { body }) }, '');
}

async function bodyOf(document: DataObject, operation: DataObject, seed: number): Promise<Data | undefined> {
  const content = objectIn(resolve(document, operation['requestBody'] ?? null), 'content');
  const type = Object.keys(content).find((name) => /json/i.test(name));
  return type === undefined ? undefined : givenOrGenerated(document, resolve(document, content[type]!), seed);
}

/** Value of a parameter or body: its example, or one generated from its schema. */
async function givenOrGenerated(document: DataObject, described: DataObject, seed: number): Promise<Data | undefined> {
  const [named] = Object.values(objectIn(described, 'examples'));
  const schema = isObject(described['schema'] ?? null) ? resolve(document, described['schema']!) : described;
  const examples = [
    described['example'],
    named && resolve(document, named)['value'],
    schema['example'],
    schema['default'],
  ];
  const example = examples.find((value) => value !== undefined);
  if (example !== undefined) return example;
  // The definitions that schemas refer to are found from the root of the document.
  const { components = {}, definitions = {} } = document;
  const { in: _in, name: _name, required, description: _text, ...rest } = schema;
  // OpenAPI marks each required parameter, whereas JSON Schema lists the required keys.
  const listed: DataObject = Array.isArray(required) ? { required } : {};
  return sampleData({ ...rest, ...listed, components, definitions }, seed);
}

function basePathOf(document: DataObject): string {
  const { basePath, servers } = document;
  const [first] = Array.isArray(servers) ? servers.filter(isObject) : [];
  const written = typeof first?.['url'] === 'string' ? first['url'].replace(/^[a-z]+:\/\/[^/]*/i, '') : basePath;
  return typeof written === 'string' ? written.replace(/\/$/, '') : '';
}

function resolve(document: DataObject, written: Data): DataObject {
  let value: Data | undefined = written;
  for (let step = 0; step < MAX_STEPS && isObject(value ?? null); step++) {
    const { $ref: reference } = value as DataObject;
    if (typeof reference !== 'string') return value as DataObject;
    value = reference.startsWith('#/')
      ? (valueAt(document, parsePointer(reference.slice(1))) as Data | undefined)
      : undefined;
  }
  return {};
}

function objectIn(holder: DataObject, name: string): DataObject {
  const value = Object.hasOwn(holder, name) ? holder[name]! : null;
  return isObject(value) ? value : {};
}

function listIn(holder: DataObject, name: string): readonly Data[] {
  const value = holder[name];
  return Array.isArray(value) ? value : [];
}
