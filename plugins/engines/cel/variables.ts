import type { CelInput } from '@bufbuild/cel';
import {
  canonicalHeaderName,
  type DataObject,
  type HeaderBag,
  type PipeRequest,
  type Query,
  type Reply,
} from '#contract';
import { paramOf } from '../../shared/parameters/value.ts';
import { type CelType, listOf, mapOf } from './language/types.ts';
import { lazyMap, objectValue } from './language/values.ts';

const lists = mapOf('string', listOf('string'));

export const requestTypes: Readonly<Record<string, CelType>> = {
  req_method: 'string',
  req_path: 'string',
  req_params: mapOf('string', 'string'),
  req_headers: lists,
  req_querystring: lists,
};

export const responseTypes: Readonly<Record<string, CelType>> = {
  resp_completed: 'bool',
  resp_metadata_status: 'int',
  resp_metadata_headers: lists,
  resp_data: mapOf('string', 'dyn'),
};

/** The readable request: the client's, or the one that a pipe derives from it. */
export type ReadableRequest = Pick<PipeRequest, 'method' | 'params' | 'headers' | 'query'> &
  Partial<Pick<PipeRequest, 'earlier' | 'client'>>;

/** Data that variables are read from. */
export interface Readable {
  /** The request; null for conditions on a token. */
  readonly request: ReadableRequest | null;
  readonly path: string;
  /** Body of the request, if it was buffered. */
  readonly body?: Uint8Array | undefined;
  /** The reply; null while the request is evaluated. */
  readonly reply: Reply | null;
  /** Whether the reply is passed through undecoded: status and headers are those of the backend. */
  readonly raw: boolean;
  readonly claims: Readonly<DataObject> | undefined;
}

/** Variables of an expression; each is computed when it is read. */
export class Variables {
  readonly #from: Readable;
  #params: CelInput | undefined;
  #headers: CelInput | undefined;
  #data: CelInput | undefined;
  #body: string | undefined;

  constructor(from: Readable) {
    this.#from = from;
  }

  get now(): string {
    return new Date().toISOString();
  }

  get JWT(): CelInput {
    return objectValue(this.#from.claims ?? {});
  }

  get req_method(): string {
    return this.#from.request!.method;
  }

  get req_path(): string {
    return this.#from.path;
  }

  get req_params(): CelInput {
    this.#params ??= paramMap(this.#from.request!);
    return this.#params;
  }

  get req_headers(): CelInput {
    this.#headers ??= headerMap(this.#from.request!.headers);
    return this.#headers;
  }

  get req_querystring(): CelInput {
    return queryMap(this.#from.request!.query);
  }

  /** Invalid UTF-8 is decoded to U+FFFD. */
  get req_body(): string {
    this.#body ??= Buffer.from(this.#from.body ?? []).toString();
    return this.#body;
  }

  get resp_completed(): boolean {
    return this.#from.reply!.complete === true;
  }

  /** For a decoded reply, status and headers are set by the gateway. */
  get resp_metadata_status(): bigint {
    return this.#from.raw ? BigInt(this.#from.reply!.status) : 0n;
  }

  get resp_metadata_headers(): CelInput {
    return this.#from.raw ? headerMap(this.#from.reply!.headers) : objectValue({});
  }

  get resp_data(): CelInput {
    this.#data ??= objectValue(this.#from.reply!.data ?? {});
    return this.#data;
  }
}

/** Headers by their canonical names, each with all its values. */
function headerMap(headers: HeaderBag): CelInput {
  const valuesOf = (name: string) => (canonicalHeaderName(name) === name ? headers.getAll(name.toLowerCase()) : []);
  return lazyMap({
    get: (name) => {
      const values = valuesOf(name);
      return values.length > 0 ? values : undefined;
    },
    has: (name) => valuesOf(name).length > 0,
    keys: () => new Set(Array.from(headers, ([name]) => canonicalHeaderName(name))),
  });
}

function paramMap(request: ReadableRequest): CelInput {
  return lazyMap({
    get: (name) => paramOf(request, name),
    has: (name) => paramOf(request, name) !== undefined,
    keys: () => Object.keys(request.params),
  });
}

function queryMap(query: Query): CelInput {
  return lazyMap({
    get: (name) => (query.has(name) ? query.getAll(name) : undefined),
    has: (name) => query.has(name),
    keys: () => Array.from(query, ([name]) => name),
  });
}
