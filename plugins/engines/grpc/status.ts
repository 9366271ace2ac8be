import { BackendError } from '#contract';

/** gRPC status codes. */
export const OK = 0;
export const CANCELLED = 1;
export const UNKNOWN = 2;
export const INVALID_ARGUMENT = 3;
export const DEADLINE_EXCEEDED = 4;
export const PERMISSION_DENIED = 7;
export const RESOURCE_EXHAUSTED = 8;
export const UNIMPLEMENTED = 12;
export const INTERNAL = 13;
export const UNAVAILABLE = 14;
export const UNAUTHENTICATED = 16;

/** Name and equivalent HTTP status of each code. */
const codes: readonly (readonly [name: string, httpStatus: number])[] = [
  ['OK', 200],
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
];

/** The name of a code; UNKNOWN for an undefined code. */
export function nameOf(code: number): string {
  return codes[code]?.[0] ?? 'UNKNOWN';
}

/** HTTP status equivalent to a code. */
export function httpStatusOf(code: number): number {
  return codes[code]?.[1] ?? 500;
}

/** gRPC code for an HTTP status, as seen by a client of the gateway; undefined if it has no specific equivalent. */
export function codeOfHttp(status: number): number | undefined {
  return fromHttp.get(status);
}

const fromHttp: ReadonlyMap<number, number> = new Map([
  [400, INVALID_ARGUMENT],
  [401, UNAUTHENTICATED],
  [403, PERMISSION_DENIED],
  [404, 5],
  [409, 10],
  [429, RESOURCE_EXHAUSTED],
  [503, UNAVAILABLE],
  [504, DEADLINE_EXCEEDED],
]);

/** Error for a call that a gRPC server, or the path to it, ended with a status other than OK. Code: `GRPC_STATUS`. */
export class GrpcError extends BackendError {
  readonly status: number;
  /** The server's original message. */
  readonly detail: string;
  /** Whether the server sent the status; otherwise it describes the path to the server. */
  readonly isOfServer: boolean;
  /** The server's `grpc-retry-pushback-ms`, as received; undefined without it. */
  readonly pushback: string | undefined;

  constructor(status: number, detail: string, isOfServer = false, pushback?: string) {
    const shown = detail.length > MAX_DETAIL ? `${detail.slice(0, MAX_DETAIL)}…` : detail;
    super('GRPC_STATUS', `grpc ${nameOf(status)}: ${shown}`, { upstreamStatus: httpStatusOf(status) });
    this.status = status;
    this.detail = shown;
    this.isOfServer = isOfServer;
    this.pushback = pushback;
  }
}

const MAX_DETAIL = 1024;

/** Encodes a `grpc-message`: printable ASCII unchanged, every other byte of UTF-8 as `%XX`. */
export function encodeMessage(text: string): string {
  if (/^[\x20-\x24\x26-\x7e]*$/.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== PERCENT;
    encoded += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`;
  }
  return encoded;
}

const PERCENT = 0x25;

/** Decodes a `grpc-message`; invalid escapes are kept literally. */
export function decodeMessage(encoded: string): string {
  if (!encoded.includes('%')) return encoded;
  const bytes = encoded.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}

/** Parses a `grpc-status`; UNKNOWN if invalid. */
export function readCode(text: unknown): number {
  return typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : UNKNOWN;
}
