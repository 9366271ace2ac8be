import {
  type CallError,
  type ClientRequest,
  type Data,
  type Offer,
  offer,
  type PipeRequest,
  parseExact,
  parseHolding,
  Query,
  type RawNumber,
  Reply,
  type RequestBody,
  type Site,
  type Step,
  type Wrap,
} from '#contract';
import { readBody } from '../../engines/templates/read-body.ts';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { compileOperation, type Destinations } from './operation.ts';
import type { ExtractorConfig } from './schema.ts';

/** Matches numbers that JavaScript may print differently than they were written. */
const formOfItsOwn = /\d[.eE]|-0/;

/** Operations of the service or one endpoint, and their effects on other components. */
export interface Extraction {
  readonly run: (body: Data, to: Destinations) => void;
  readonly writesQuery: boolean;
  readonly site: Site<ExtractorConfig>;
  /** Traits that announce the headers to be set. */
  readonly traits: { readonly sets?: readonly string[]; readonly offers?: readonly Offer[] };
}

/** Compiles the operations of a configuration. @throws ConfigError for an unusable operation. */
export function compileExtraction(site: Site<ExtractorConfig>): Extraction {
  const { operations: configured } = site.config;
  const operations = configured.map((operation, at) => compileOperation(site, operation, at));
  const names = configured.flatMap(({ type, target }) => (type === 'header' ? [target] : []));
  return {
    site,
    run: (body, to) => {
      for (const operation of operations) operation(body, to);
    },
    writesQuery: names.length < configured.length,
    traits: names.length > 0 ? { sets: names, offers: [offer(personalHeaders, names)] } : {},
  };
}

/** Changes the request of a client before other components read its headers and query. */
export function ofClient({ run, site, writesQuery }: Extraction): Wrap<ClientRequest> {
  return withBody(site, (request, body) => {
    if (!writesQuery) {
      run(body, request);
      return request;
    }
    const query = Query.parse(request.search);
    const before = query.toString();
    run(body, { headers: request.headers, query });
    const search = query.toString();
    return search === before ? request : request.with({ search });
  });
}

/** Changes the request of a pipe. */
export function ofPipe({ run, site }: Extraction): Wrap<PipeRequest> {
  return withBody(site, (request, body) => {
    run(body, request);
    return request;
  });
}

/** Applies `change` to requests whose body is JSON; other requests pass unchanged. */
function withBody<R extends { readonly body: RequestBody | null }>(
  site: Site<ExtractorConfig>,
  change: (request: R, body: Data) => R,
): Wrap<R> {
  return (next) => {
    const goOn = (request: R, bytes: Uint8Array | null | CallError, call: Parameters<Step<R>>[1]) => {
      if (bytes instanceof Error) return Reply.failed(bytes);
      const body = parsed(site, bytes);
      return next(body === undefined ? request : change(request, body), call);
    };
    return (request, call) => {
      const bytes = readBody(request.body);
      return bytes instanceof Promise ? bytes.then((all) => goOn(request, all, call)) : goOn(request, bytes, call);
    };
  };
}

/** Parses the body; undefined if nothing can be extracted from it. */
function parsed(site: Site<ExtractorConfig>, bytes: Uint8Array | null): Data | undefined {
  if (bytes === null || bytes.length === 0) {
    site.log.debug('nothing to extract: the request has no body');
    return undefined;
  }
  try {
    return parseAsWritten(bytes);
  } catch (error) {
    site.log.debug(() => `nothing to extract: the body is not valid JSON: ${(error as Error).message}`);
    return undefined;
  }
}

/**
 * Parses JSON so that every number prints as it was written.
 * @throws SyntaxError
 */
function parseAsWritten(bytes: Uint8Array): Data {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  return formOfItsOwn.test(text) ? parseHolding(text, asWritten) : parseExact(text);
}

function asWritten(source: string): number | RawNumber {
  const value = Number(source);
  return String(value) === source ? value : JSON.rawJSON(source);
}
