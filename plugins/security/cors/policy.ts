import { type ClientRequest, canonicalHeaderName } from '#contract';
import { originTest } from './origins.ts';
import type { CorsConfig } from './schema.ts';

/** Flat list `[name, value, …]`. */
export type HeaderList = readonly string[];

/** Compiled CORS configuration: decides which headers a request gets, or why it gets none. */
export interface Policy {
  readonly preflight: (request: ClientRequest) => HeaderList | string;
  readonly actual: (request: ClientRequest) => HeaderList | string;
  /** True for a WebSocket handshake from an origin that is not allowed, which browsers would not block. */
  readonly refusesSocket: (request: ClientRequest) => boolean;
  /** `Vary` of responses to preflights. */
  readonly preflightVary: string;
  /** Response status of preflights. */
  readonly status: number;
  /** True if preflights are passed to the router. */
  readonly passesOn: boolean;
  /** Called for every decision. */
  readonly note: Note | null;
}

/** @param decision reason why no headers were sent; null when they were. */
export type Note = (request: ClientRequest, decision: string | null) => void;

const noOrigin = 'no origin';
const wrongOrigin = 'the origin is not allowed';
const wrongMethod = 'the method is not allowed';
const wrongHeader = 'a header is not allowed';

/** `Vary` of responses to other requests. */
export const ACTUAL_VARY = 'Origin';

export function compilePolicy(config: CorsConfig, note: Note | null): Policy {
  const isAllowed = originTest(config.allow_origins ?? []);
  const methods = new Set<string>([...config.allow_methods, 'OPTIONS']);
  const areHeadersAllowed = headersTest(config.allow_headers);
  const credentials = config.allow_credentials ? ['Access-Control-Allow-Credentials', 'true'] : [];
  const exposed = config.expose_headers.map(canonicalHeaderName).join(', ');
  const always = [...(exposed === '' ? [] : ['Access-Control-Expose-Headers', exposed]), ...credentials];
  const everyone: HeaderList = ['Access-Control-Allow-Origin', '*', ...always];
  const maxAge = maxAgeOf(config.max_age);
  const remembered = maxAge === null ? [] : ['Access-Control-Max-Age', maxAge];

  const refusal = (origin: string | undefined, method: string): string | null => {
    if (!origin) return noOrigin;
    if (isAllowed && !isAllowed(origin)) return wrongOrigin;
    return methods.has(method) ? null : wrongMethod;
  };
  return {
    actual({ headers, method }) {
      const origin = headers.get('origin');
      const refused = refusal(origin, method);
      if (refused !== null) return refused;
      return isAllowed ? ['Access-Control-Allow-Origin', origin!, ...always] : everyone;
    },
    refusesSocket({ upgrade, headers }) {
      if (upgrade !== 'websocket' || !isAllowed) return false;
      return headers.getAll('origin').some((origin) => !isAllowed(origin));
    },
    preflight({ headers }) {
      const origin = headers.get('origin');
      const method = headers.get('access-control-request-method')!;
      const refused = refusal(origin, method);
      if (refused !== null) return refused;
      const requested = headers.getAll('access-control-request-headers').join(', ');
      const names = namesIn(requested);
      if (!areHeadersAllowed(names)) return wrongHeader;
      const isPrivate =
        config.allow_private_network && headers.get('access-control-request-private-network') === 'true';
      return [
        'Access-Control-Allow-Origin',
        isAllowed ? origin! : '*',
        'Access-Control-Allow-Methods',
        method,
        ...(names.length === 0 ? [] : ['Access-Control-Allow-Headers', requested]),
        ...credentials,
        ...(isPrivate ? ['Access-Control-Allow-Private-Network', 'true'] : []),
        ...remembered,
      ];
    },
    preflightVary: [
      'Origin',
      'Access-Control-Request-Method',
      'Access-Control-Request-Headers',
      ...(config.allow_private_network ? ['Access-Control-Request-Private-Network'] : []),
    ].join(', '),
    status: config.options_success_status,
    passesOn: config.options_passthrough,
    note,
  };
}

/** The header `Origin` is always allowed. */
function headersTest(allowed: readonly string[]): (names: readonly string[]) => boolean {
  if (allowed.length === 0 || allowed.includes('*')) return () => true;
  const known = new Set(['origin', ...allowed.map((name) => name.toLowerCase())]);
  return (names) => names.every((name) => known.has(name));
}

/** Header names in a list, in lower case. */
function namesIn(list: string): string[] {
  return list.split(',').flatMap((name) => name.trim().toLowerCase() || []);
}

/** Whole seconds; null when the header is omitted. @param maxAge milliseconds, or the text of a negative duration. */
function maxAgeOf(maxAge: number | string): string | null {
  if (typeof maxAge === 'string') return '0';
  return maxAge < 1000 ? null : String(Math.floor(maxAge / 1000));
}
