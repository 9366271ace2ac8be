import { type Data, isObject, type ServiceConfig } from '#contract';

/** The addresses of backends of a configuration, which are mocked. */
export interface Origins {
  /** Origins to mock, for example `http://users:8000`. The hosts of one backend share the first one's. */
  readonly all: readonly string[];
  /** Base URL of a host, with the origin under which it is mocked. */
  mockedAt(host: string): string;
  /** Whether a host has an address that can be mocked. */
  has(host: string): boolean;
}

/** Splits an HTTP host, with or without its scheme, into its origin and the rest; undefined for any other address. */
function splitHost(host: string): { readonly origin: string; readonly rest: string } | undefined {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(host) ? host : `http://${host}`;
  const [, origin, rest] = /^(https?:\/\/[^/?#{}@]+)([^{}]*)$/i.exec(text) ?? [];
  if (origin === undefined || !URL.canParse(origin)) return undefined;
  return { origin: new URL(origin).origin, rest: rest!.replace(/\/$/, '') };
}

/** Finds the addresses in a configuration: hosts of backends, also of nested ones, and documents that are fetched. */
export function originsOf({ endpoints, host }: ServiceConfig, data: Data, documents: Iterable<string>): Origins {
  const lists: (readonly string[])[] = [];
  const visit = (value: Data, key: string, depth: number, inEndpoint: boolean): void => {
    if (typeof value === 'string') {
      if (inEndpoint && ADDRESS.test(key) && /^https?:/i.test(value)) lists.push([value]);
    }
    if (depth === 0 || typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return;
    if (key === 'host' && isHosts(value)) lists.push(value);
    else if (Array.isArray(value)) for (const each of value) visit(each, key, depth - 1, inEndpoint);
    else {
      for (const [name, each] of Object.entries(value)) {
        visit(each, name, depth - 1, inEndpoint || key === 'endpoints');
      }
    }
  };
  visit(data, '', MAX_DEPTH, false);
  for (const { backend } of endpoints) for (const each of backend) lists.push(each.host);
  lists.push(host);
  for (const url of documents) lists.push([new URL(url).origin]);
  const canonical = new Map<string, string>();
  for (const list of lists) {
    const origins = list.flatMap((each) => splitHost(each)?.origin ?? []);
    const first = origins.map((origin) => canonical.get(origin)).find((known) => known !== undefined) ?? origins[0];
    for (const origin of origins) if (!canonical.has(origin)) canonical.set(origin, first!);
  }
  return {
    all: [...new Set(canonical.values())],
    has: (address) => splitHost(address) !== undefined,
    mockedAt(address) {
      const { origin, rest } = splitHost(address) ?? { origin: address, rest: '' };
      return (canonical.get(origin) ?? origin) + rest;
    },
  };
}

/** Names of the fields in which components of endpoints have addresses. */
const ADDRESS = /(?:^|[_-])(?:url|host)$/;

/** Names of fields whose URLs identify someone, and are not called. */
const IDENTITY = /^(?:issuer|iss|audience|aud|realm|origin|allow_origins)$/;

/** Maximum nesting depth in which hosts are searched. */
const MAX_DEPTH = 200;

function isHosts(value: Data): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}

/**
 * Copies a document for another gateway: URLs of mocked backends become the addresses at which they are served, and the
 * gateway listens where its own URL says.
 * @param addresses address of each mocked origin. @param url of the other gateway; null keeps the port.
 */
export function otherData(data: Data, origins: Origins, addresses: ReadonlyMap<string, string>, url: URL | null): Data {
  const moved = (text: string): string => {
    if (!origins.has(text)) return text;
    const url = origins.mockedAt(text);
    const origin = splitHost(url)!.origin;
    const address = addresses.get(origin);
    return address === undefined ? text : address + url.slice(origin.length);
  };
  const copy = (value: Data, key: string): Data => {
    if (typeof value === 'string') return /^https?:/i.test(value) && !IDENTITY.test(key) ? moved(value) : value;
    if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value;
    if (key === 'host' && isHosts(value)) return [...new Set(value.map(moved))];
    if (Array.isArray(value)) return value.map((each) => copy(each, key));
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copy(each, name)]));
  };
  const all = copy(data, '');
  if (!isObject(all)) return all;
  const isTls = url?.protocol === 'https:';
  // Requests reach the other gateway directly, over TCP, and with TLS only if its URL says so.
  const isSocket = String(all['listen_ip']).startsWith('unix:');
  for (const name of ['proxy_protocol', ...(isTls ? [] : ['tls']), ...(isSocket ? ['listen_ip'] : [])])
    delete all[name];
  return url ? { ...all, port: Number(url.port || (isTls ? 443 : 80)) } : all;
}
