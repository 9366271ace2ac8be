import { type Data, getPath, isObject, type PipeRequest, type Site } from '#contract';
import { paramOf } from '../../shared/parameters/value.ts';

/** A part of a request, selected by a path such as `req_body.messages`. */
export interface RequestPart {
  /** The path as written in the configuration. */
  readonly source: string;
  /** Lowercase name of the header that the part reads; undefined for parts that are not in a header. */
  readonly header?: string;
  /** True if `of` needs the request body. */
  readonly readsBody: boolean;
  /** The selected value; undefined if it does not exist. @param body as returned by `parsedBody`. */
  of(request: PipeRequest, body: Data | undefined): Data | undefined;
}

/** Syntax of the paths, for descriptions in schemas. */
export const partSyntax =
  '`req_body` with a path in dot notation (`req_body.messages.0.content`), `req_params.Id` (first letter in uppercase), `req_query_string.name`, or `req_headers.name`';

type Reader = (name: string) => Omit<RequestPart, 'source'>;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['req_params', (name) => ({ readsBody: false, of: (request) => paramOf(request, name) })],
  ['req_query_string', (name) => ({ readsBody: false, of: ({ query }) => joined(query.getAll(name)) })],
  ['req_headers', (name) => headerReader(name.toLowerCase())],
]);

function headerReader(header: string): Omit<RequestPart, 'source'> {
  return { header, readsBody: false, of: ({ headers }) => joined(headers.getAll(header)) };
}

/** Values of a repeated field as a list: `["a,b"]` and `["a","b"]` must not be equal. */
function joined(values: readonly string[]): Data | undefined {
  return values.length > 1 ? [...values] : values[0];
}

/** Compiles a path. @throws ConfigError REQUEST_PART */
export function requestPart(site: Site<unknown>, source: string, pointer: string): RequestPart {
  if (source === 'req_body') return wholeBody;
  const at = source.indexOf('.');
  const [kind, name] = at < 0 ? [source, ''] : [source.slice(0, at), source.slice(at + 1)];
  const reader = kind === 'req_body' ? bodyReader : readers.get(kind);
  if (reader && name !== '' && !name.split('.').includes('')) return { source, ...reader(name) };
  throw site.fault('REQUEST_PART', pointer, `"${source}" does not select a part of the request`, {
    hint: 'req_body.field, req_params.Name, req_query_string.name or req_headers.name',
  });
}

/** Selects the whole body of a request. */
export const wholeBody: RequestPart = { source: 'req_body', readsBody: true, of: (_request, body) => body };

function bodyReader(path: string): Omit<RequestPart, 'source'> {
  const keys = path.split('.');
  return { readsBody: true, of: (_request, body) => memberOf(body, keys) };
}

function memberOf(value: Data | undefined, keys: readonly string[]): Data | undefined {
  for (const key of keys) {
    if (Array.isArray(value)) value = /^\d{1,9}$/.test(key) ? value[Number(key)] : undefined;
    else value = isObject(value) ? getPath(value, [key]) : undefined;
  }
  return value;
}

/** A body as JSON, or as text if it is not JSON; undefined without a body. */
export function parsedBody(bytes: Uint8Array | undefined): Data | undefined {
  if (!bytes || bytes.length === 0) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  try {
    return JSON.parse(text) as Data;
  } catch {
    return text;
  }
}
