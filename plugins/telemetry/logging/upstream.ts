import {
  type Call,
  claimsSlot,
  getKey,
  getPath,
  type PipeRequest,
  Query,
  type Reply,
  requestIdSlot,
  traceSlot,
} from '#contract';
import { dataValue } from './data-value.ts';
import type { Read, Vocabulary } from './pattern.ts';
import { vocabularyOf } from './vocabulary.ts';

/** A completed or failed call to a backend. */
export interface UpstreamRecord {
  /** End of the call, in milliseconds since 1970. */
  readonly endedAt: number;
  readonly latencyMs: number;
  /** Status of the response; undefined if the backend returned none. */
  readonly status: number | undefined;
  /** Method, address, and path with query, as requested. */
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly request: PipeRequest;
  readonly headers: Reply['headers'];
  readonly errors: Reply['errors'];
  /** Decoded body; null if unknown. */
  readonly data: Reply['data'];
  readonly call: Call;
}

/** Variables of the backend log. @param endpoint pattern of the endpoint that the backend belongs to. */
export function upstreamVocabulary(prefix: string, endpoint: string): Vocabulary<UpstreamRecord> {
  return vocabularyOf({ prefix, endpoint }, plain, dotted, dottedNames);
}

const plain: ReadonlyMap<string, Read<UpstreamRecord>> = new Map<string, Read<UpstreamRecord>>([
  ['statusCode', (record) => record.status],
  ['backendStatus', (record) => record.status],
  ['clientIP', (record) => record.request.client.ip],
  ['method', (record) => record.method],
  ['path', (record) => pathOf(record.target)],
  ['uri', (record) => record.target],
  ['query', (record) => searchOf(record.target)],
  ['host', (record) => record.origin.slice(record.origin.indexOf('://') + 3)],
  ['scheme', (record) => record.origin.slice(0, Math.max(record.origin.indexOf('://'), 0))],
  // The HTTP version is missing, because a reply does not contain it.
  ['proto', () => undefined],
  ['error', (record) => record.errors.map((error) => error.message).join('; ')],
  ['requestId', (record) => record.call.get(requestIdSlot) ?? record.request.headers.get('x-request-id')],
  ['traceId', (record) => record.call.get(traceSlot)?.traceId],
  ['spanId', (record) => record.call.get(traceSlot)?.spanId],
]);

const dottedNames = ['header.NAME', 'respHeader.NAME', 'reqHeader.NAME', 'query.NAME', 'jwt.CLAIM', 'resp.PATH'];

/**
 * Variables `header.X` and `respHeader.X` of the reply, `reqHeader.X` of the request to the backend, `jwt.claim`,
 * `query.name`, and `resp.path` of the decoded body.
 */
function dotted(name: string): Read<UpstreamRecord> | undefined {
  const dot = name.indexOf('.');
  const rest = name.slice(dot + 1);
  if (dot < 0 || rest === '') return undefined;
  switch (name.slice(0, dot)) {
    case 'reqHeader': {
      const lower = rest.toLowerCase();
      return (record) => record.request.headers.getAll(lower).join(', ');
    }
    case 'respHeader':
    case 'header': {
      const lower = rest.toLowerCase();
      return (record) => record.headers.getAll(lower).join(', ');
    }
    case 'resp': {
      const path = rest.split('.');
      return ({ data }) => dataValue(data ? getPath(data, path) : undefined);
    }
    case 'query':
      return (record) => Query.parse(searchOf(record.target)).get(rest);
    case 'jwt':
      return (record) => {
        const claims = record.call.get(claimsSlot);
        return claims && dataValue(getKey(claims, rest));
      };
    default:
      return undefined;
  }
}

function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

function searchOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}
