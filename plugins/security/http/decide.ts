import { type ClientRequest, isHeaderName, type Site } from '#contract';
import { type HeaderList, headerMaker } from './headers.ts';
import { hostTest } from './hosts.ts';
import { HEADER_VALUE_PATTERN, type SecurityConfig } from './schema.ts';

/** A response that replaces the real one. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string | null;
}

/** The decision for a request: it is rejected, or its response gets these headers. */
export interface Decision {
  readonly refusal: Refusal | null;
  readonly headers: HeaderList;
}

export type Decide = (request: ClientRequest) => Decision;

const none: HeaderList = [];
const free: Decision = { refusal: null, headers: none };

const badHost: Decision = {
  refusal: {
    status: 500,
    headers: ['Content-Type', 'text/plain; charset=utf-8', 'X-Content-Type-Options', 'nosniff'],
    body: 'Bad Host\n',
  },
  headers: none,
};

/**
 * Checks the host, then redirects, then sets headers.
 * @returns null when the configuration enables nothing.
 * @throws ConfigError PATTERN_INVALID, SECURITY_HEADER_NAME or SECURITY_HEADER_VALUE.
 */
export function compileDecision(site: Site<SecurityConfig>): Decide | null {
  const { config } = site;
  checkHeaders(site);
  const isAllowed = hostTest(site);
  const headersFor = headerMaker(config);
  const redirects = config.ssl_redirect && !config.is_development;
  if (!isAllowed && !headersFor && !redirects) return null;

  const hostOf = hostReader(config.host_proxy_headers);
  const isSecure = secureReader(config.ssl_proxy_headers);
  const warn = warnOnceASecond(site);
  return (request) => {
    if (isAllowed && !isAllowed(hostOf(request))) {
      warn(hostOf(request));
      return badHost;
    }
    const secure = isSecure(request);
    if (redirects && !secure) {
      const host = config.ssl_host || hostOf(request);
      return host === '' ? badHost : redirect(`https://${host}${targetOf(request)}`, request.method);
    }
    return headersFor ? { refusal: null, headers: headersFor(secure) } : free;
  };
}

function hostReader(headers: readonly string[]): (request: ClientRequest) => string {
  const names = headers.map((name) => name.toLowerCase());
  return (request) => {
    for (const name of names) {
      const value = request.headers.get(name);
      if (!value) continue;
      const comma = value.indexOf(',');
      const host = (comma < 0 ? value : value.slice(0, comma)).trim();
      if (host !== '') return host;
    }
    return request.host;
  };
}

function secureReader(proofs: Readonly<Record<string, string>>): (request: ClientRequest) => boolean {
  const pairs = Object.entries(proofs).map(([name, value]) => [name.toLowerCase(), value] as const);
  return (request) => request.secure || pairs.some(([name, value]) => request.headers.get(name) === value);
}

function targetOf({ path, search }: ClientRequest): string {
  return search === '' ? path : `${path}?${search}`;
}

function redirect(location: string, method: string): Decision {
  const withBody = method === 'GET' || method === 'HEAD';
  return {
    refusal: {
      status: 301,
      headers: withBody ? ['Location', location, 'Content-Type', 'text/html; charset=utf-8'] : ['Location', location],
      body: withBody ? `<a href="${escapeHtml(location)}">Moved Permanently</a>.\n` : null,
    },
    headers: none,
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

/** Logs rejected hosts at most once a second, because any client can send them. */
function warnOnceASecond(site: Site<SecurityConfig>): (host: string) => void {
  const clock = site.use('clock');
  const { log } = site;
  let last = Number.NEGATIVE_INFINITY;
  return (host) => {
    const now = clock.now();
    if (now - last < 1000) return;
    last = now;
    log.warning(() => `[HTTPsecure] Bad Host: ${JSON.stringify(host.slice(0, 255))}`);
  };
}

const headerValue = new RegExp(HEADER_VALUE_PATTERN);

/** Headers that could not be sent, or never be found, are reported at load time instead of with the first request. */
function checkHeaders(site: Site<SecurityConfig>): void {
  const { config } = site;
  const names = [
    ...config.host_proxy_headers.map((name, index) => [`/host_proxy_headers/${index}`, name] as const),
    ...Object.keys(config.ssl_proxy_headers).map((name) => ['/ssl_proxy_headers', name] as const),
  ];
  for (const [pointer, name] of names) {
    if (!isHeaderName(name)) throw site.fault('SECURITY_HEADER_NAME', pointer, `"${name}" is not a valid header name`);
  }
  for (const field of [
    'ssl_host',
    'custom_frame_options_value',
    'content_security_policy',
    'referrer_policy',
  ] as const) {
    if (!headerValue.test(config[field])) {
      throw site.fault('SECURITY_HEADER_VALUE', `/${field}`, 'contains a character that is not allowed in headers');
    }
  }
}
