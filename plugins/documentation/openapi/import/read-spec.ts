import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { type Data, type DataObject, isObject, joinPointer, parseExact, parsePointer } from '#contract';
import { parseYaml } from '../../../engines/documents/yaml/reader.ts';
import { decode } from '../../lib/references.ts';

/** Maximum size of a document, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Maximum number of documents, including referenced ones. */
const MAX_DOCUMENTS = 200;

const FETCH_MS = 30_000;

/** Key under which a bundled document contains the documents that it references, by address. */
const OTHERS = 'x-documents';

/** Error for a document that cannot be read, or that references such a document. */
export class SpecError extends Error {}

/**
 * Reads an OpenAPI or Swagger document in JSON or YAML and bundles all documents that it references, so that all
 * references are internal. Reads files only from the directory of the first document and below.
 *
 * @param address path, or an HTTP address with `remote`.
 * @param remote allows fetching documents.
 * @throws SpecError for a document that cannot be read, is too large or invalid, or has forbidden references.
 */
export async function readSpec(address: string, remote: boolean): Promise<DataObject> {
  const spec = isAddress(address) ? address : await realpathOf(address);
  const loading = new Loading(spec, remote);
  const document = await loading.load(spec);
  if (!isObject(document)) throw new SpecError(`${address} is not an object`);
  const version = document['openapi'] ?? document['swagger'];
  if (typeof version !== 'string' || !/^(?:2\.0|3\.[01](?:\.\d+)?)$/.test(version)) {
    throw new SpecError(`${address} is not a Swagger 2.0, OpenAPI 3.0 or OpenAPI 3.1 document`);
  }
  return loading.bundled(document);
}

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

async function realpathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw new SpecError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}

/** Loads a document and the documents that it references. */
class Loading {
  readonly #root: string;
  readonly #remote: boolean;
  /** Documents by address; null while loading. */
  readonly #documents = new Map<string, Data | null>();

  constructor(root: string, remote: boolean) {
    this.#root = root;
    this.#remote = remote;
  }

  async load(address: string): Promise<Data> {
    this.#documents.set(address, null);
    if (this.#documents.size > MAX_DOCUMENTS)
      throw new SpecError(`more than ${MAX_DOCUMENTS} documents are referred to`);
    const data = parse(await this.#read(address), address);
    this.#documents.set(address, data);
    for (const reference of externalReferences(data)) {
      const target = await this.#locate(reference, address);
      if (!this.#documents.has(target)) await this.load(target);
    }
    return data;
  }

  /** Returns the first document with the others embedded. */
  bundled(document: DataObject): DataObject {
    const others = [...this.#documents].filter(([address]) => address !== this.#root);
    const root = this.#rewrite(document, this.#root) as DataObject;
    if (others.length === 0) return root;
    const inside = others.map(([address, data]) => [address, this.#rewrite(data!, address)] as const);
    return { ...root, [OTHERS]: Object.fromEntries(inside) };
  }

  /** Targets of references, resolved by `#locate`. */
  readonly #targets = new Map<string, string>();

  async #locate(reference: string, from: string): Promise<string> {
    const [bare] = reference.split('#', 1);
    const key = `${from}\n${bare}`;
    const target = await this.#find(bare!, from);
    this.#targets.set(key, target);
    return target;
  }

  async #find(bare: string, from: string): Promise<string> {
    if (isAddress(bare) || isAddress(from)) {
      const address = new URL(bare, isAddress(from) ? from : undefined).href;
      if (this.#remote && isAddress(address)) return address;
      throw new SpecError(`${from} refers to ${address}: nothing is fetched without --remote`);
    }
    if (/^[a-z][a-z\d+.-]*:/i.test(bare)) throw new SpecError(`${from} refers to ${bare}, which is not a file`);
    const path = await realpathOf(resolve(dirname(from), decode(bare)));
    if (!path.startsWith(dirname(this.#root) + sep)) {
      throw new SpecError(`${from} refers to ${bare}, which is outside of the folder of the first document`);
    }
    return path;
  }

  async #read(address: string): Promise<string> {
    if (isAddress(address)) {
      if (!this.#remote) throw new SpecError(`${address}: nothing is fetched without --remote`);
      return fetchText(address);
    }
    try {
      const { size } = await stat(address);
      if (size > MAX_BYTES) throw new SpecError(`${address} is larger than ${MAX_BYTES} bytes`);
      return await readFile(address, 'utf8');
    } catch (error) {
      if (error instanceof SpecError) throw error;
      throw new SpecError(`cannot read ${address}: ${(error as Error).message}`);
    }
  }

  #rewrite(value: Data, address: string): Data {
    if (Array.isArray(value)) return value.map((item) => this.#rewrite(item, address));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === '$ref' && typeof inner === 'string' ? this.#inside(inner, address) : this.#rewrite(inner, address),
      ]),
    );
  }

  /** Converts a reference of a document to one inside the bundle. */
  #inside(reference: string, address: string): string {
    const [bare = '', fragment = ''] = reference.split('#', 2);
    const target = bare === '' ? address : this.#targets.get(`${address}\n${bare}`);
    if (target === undefined) return reference;
    const base = target === this.#root ? '' : joinPointer('', OTHERS, target);
    return `#${joinPointer(base, ...parsePointer(decode(fragment)))}`;
  }
}

function parse(text: string, address: string): Data {
  try {
    return /^\s*[{[]/.test(text) ? parseExact(text) : parseYaml(text);
  } catch (error) {
    throw new SpecError(`${address}: ${(error as Error).message}`);
  }
}

async function fetchText(address: string): Promise<string> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(FETCH_MS) });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  } catch (error) {
    throw new SpecError(`cannot fetch ${address}: ${(error as Error).message}`);
  }
}

/** Keys that contain data, in which `$ref` is not a reference. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);

/** Returns all references to other documents, without duplicates. The traversal is not recursive. */
function externalReferences(document: Data): Set<string> {
  const references = new Set<string>();
  const waiting: { readonly value: Data; readonly areNames: boolean }[] = [{ value: document, areNames: false }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, areNames } = next;
    if (Array.isArray(value)) for (const item of value) waiting.push({ value: item, areNames: false });
    if (!isObject(value)) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (!areNames && key === '$ref' && typeof inner === 'string') {
        if (!inner.startsWith('#')) references.add(inner.split('#', 1)[0]!);
      } else if (areNames || !DATA.has(key)) {
        waiting.push({ value: inner, areNames: !areNames && NAMED.has(key) });
      }
    }
  }
  return references;
}

/** Maps whose keys are names rather than keywords. */
const NAMED = new Set([
  'properties',
  'schemas',
  'definitions',
  '$defs',
  'patternProperties',
  'parameters',
  'responses',
]);
