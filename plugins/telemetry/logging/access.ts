import type { X509Certificate } from 'node:crypto';
import { type AccessRecord, type Call, claimsSlot, defineSlot, getKey, Query, traceSlot } from '#contract';
import { basicUserSlot } from '../../shared/callers/basic-user.ts';
import { dataValue } from './data-value.ts';
import type { Read, Vocabulary } from './pattern.ts';
import { vocabularyOf } from './vocabulary.ts';

const common = '%{clientIP} - - [%{time}] "%{method} %{uri} %{proto}" %{statusCode} -';
const combined = `${common} "%{header.Referer}" "%{header.User-Agent}"\n`;

/** Patterns of the named formats. */
const accessPatterns: Readonly<Record<string, string>> = {
  default: '%{prefix} %{time} [AccessLog] |%{statusCode}| %{latencyMs} | %{clientIP} | %{method} %{path}\n',
  httpdCommon: `${common}\n`,
  httpdCombine: combined,
  httpdCombined: combined,
  json: '{"prefix":"%{prefix}","time":"%{time}","status_code":%{statusCode},"latency":"%{latency}","client_ip":"%{clientIP}","method":"%{method}","path":"%{path}"}\n',
};

/** Suffixes of named formats when requests have ids. The httpd formats stay unchanged, because other programs parse them. */
const withIds: Readonly<Record<string, string>> = {
  default: accessPatterns['default']!.replace('\n', ' | %{requestId} | %{traceId}\n'),
  json: accessPatterns['json']!.replace('}\n', ',"request_id":"%{requestId}","trace_id":"%{traceId}"}\n'),
};

/** Returns the pattern of a named format. @param isIdentified requests have ids. @returns undefined for the built-in line. */
export function namedPattern(format: string, isIdentified: boolean): string | undefined {
  return (isIdentified ? withIds[format] : undefined) ?? accessPatterns[format];
}

/** Statuses of the upstream calls of one request, in the order the calls ended. */
export const upstreamSlot = defineSlot<string[]>('upstream statuses');

/** The variables of the access log. */
export function accessVocabulary(prefix: string): Vocabulary<AccessRecord> {
  return vocabularyOf({ prefix }, plain, dotted, dottedNames);
}

const plain: ReadonlyMap<string, Read<AccessRecord>> = new Map<string, Read<AccessRecord>>([
  ['statusCode', (record) => record.status],
  ['clientIP', (record) => record.ip],
  ['method', (record) => record.method],
  ['path', (record) => record.path],
  ['uri', (record) => (record.search === '' ? record.path : `${record.path}?${record.search}`)],
  ['host', (record) => record.host],
  ['scheme', scheme],
  ['proto', (record) => `HTTP/${record.httpVersion}`],
  ['query', (record) => record.search],
  ['endpoint', (record) => record.endpoint ?? undefined],
  ['bytes', (record) => record.bytesOut],
  ['error', (record) => record.errors.map((error) => error.message).join('; ')],
  ['requestId', (record) => record.requestId ?? record.requestHeaders.get('x-request-id')],
  ['traceId', (record) => record.call?.get(traceSlot)?.traceId ?? parent(record)?.[1]],
  ['spanId', (record) => record.call?.get(traceSlot)?.spanId ?? parent(record)?.[2]],
  ['basic_user', (record) => record.call?.get(basicUserSlot)],
  ['backendStatus', (record) => record.call?.get(upstreamSlot)?.join(',')],
]);

/** Records the status of an upstream call for `%{backendStatus}`. */
export function noteUpstream(call: Call, status: number | undefined): void {
  const text = status === undefined ? '-' : String(status);
  const statuses = call.get(upstreamSlot);
  if (statuses) statuses.push(text);
  else call.set(upstreamSlot, [text]);
}

function scheme(record: AccessRecord): string {
  const socket = record.status === 101 || record.requestHeaders.get('upgrade')?.toLowerCase() === 'websocket';
  return (socket ? 'ws' : 'http') + (record.secure ? 's' : '');
}

/** Reads the trace from the client's own headers, which is used without a tracer. */
function parent(record: AccessRecord): RegExpExecArray | null | undefined {
  const header = record.requestHeaders.get('traceparent');
  return header === undefined ? undefined : /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-/.exec(header);
}

/** Client properties read from its certificate. Names follow RFC 2253: most specific first. */
const ofCertificate: Readonly<Record<string, (certificate: X509Certificate) => string>> = {
  subject: ({ subject }) => distinguishedName(subject),
  issuer: ({ issuer }) => distinguishedName(issuer),
  serial: ({ serialNumber }) => serialNumber,
  fingerprint: ({ fingerprint256 }) => fingerprint256.replaceAll(':', '').toLowerCase(),
};

/** Node.js writes one attribute per line and escapes line breaks in values. */
function distinguishedName(lines: string | undefined): string {
  return lines === undefined ? '' : lines.split('\n').reverse().join(',');
}

const dottedNames = [
  'header.NAME',
  'reqHeader.NAME',
  'query.NAME',
  'jwt.CLAIM',
  ...Object.keys(ofCertificate).map((field) => `clientCert.${field}`),
];

/** Variables `header.X` and `reqHeader.X` of the client's request, `jwt.claim`, `query.name` and `clientCert.subject`. */
function dotted(name: string): Read<AccessRecord> | undefined {
  const dot = name.indexOf('.');
  const rest = name.slice(dot + 1);
  if (dot < 0 || rest === '') return undefined;
  switch (name.slice(0, dot)) {
    case 'reqHeader':
    case 'header': {
      const lower = rest.toLowerCase();
      return (record) => record.requestHeaders.getAll(lower).join(', ');
    }
    case 'query':
      return (record) => Query.parse(record.search).get(rest);
    case 'clientCert': {
      if (!Object.hasOwn(ofCertificate, rest)) return undefined;
      const read = ofCertificate[rest]!;
      return ({ certificate }) => (certificate ? read(certificate) : undefined);
    }
    case 'jwt':
      return (record) => {
        const claims = record.call?.get(claimsSlot);
        return claims && dataValue(getKey(claims, rest));
      };
    default:
      return undefined;
  }
}
