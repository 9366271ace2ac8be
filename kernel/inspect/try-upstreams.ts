import { ConfigError, type UpstreamTls } from '#contract';
import { socketOfHost } from '../net/address-range.ts';
import type { NamedUpstream } from '../pipeline/attach/upstreams.ts';
import { type Address, type ConnectProblem, connectTo, lookUp } from './try-address.ts';

/** Maximum number of addresses that are tested concurrently. */
const AT_ONCE = 20;

/** Result of a connection test. */
export interface Tried {
  /** Number of addresses tested. */
  readonly addresses: number;
  /** One error per unreachable address; `related` lists the other places that name it. */
  readonly errors: readonly ConfigError[];
}

/** An address, with the locations of all components that name it. */
interface Target extends Address {
  readonly role: string | undefined;
  readonly pointers: string[];
}

/**
 * Tests whether the servers that a configuration names are reachable, each address once: resolves its name, connects
 * with TCP and, where the protocol uses TLS from the first byte or after a greeting of the server, completes the TLS
 * handshake. Sends no data after that and disconnects.
 *
 * Codes: CONNECT_NAME, CONNECT_REFUSED, CONNECT_TIMEOUT, CONNECT_GREETING, CONNECT_CERTIFICATE, CONNECT_TLS,
 * CONNECT_FAILED.
 * @param timeoutMs total timeout for each address.
 */
export async function tryUpstreams(upstreams: readonly NamedUpstream[], timeoutMs: number): Promise<Tried> {
  const targets = [...targetsOf(upstreams)];
  const errors: ConfigError[] = [];
  const waiting = targets.values();
  const work = async (): Promise<void> => {
    for (const target of waiting) {
      const problem = await (target.transport === 'udp' ? lookUp(target, timeoutMs) : connectTo(target, timeoutMs));
      if (problem) errors.push(errorOf(target, problem));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { addresses: targets.length, errors };
}

function targetsOf(upstreams: readonly NamedUpstream[]): Iterable<Target> {
  const targets = new Map<string, Target>();
  const settings = new Map<UpstreamTls['secureContext'], number>();
  for (const { pointer, upstream } of upstreams) {
    const place = placeOf(upstream.address, upstream.port);
    if (!place) continue;
    const tls = upstream.tls?.() ?? null;
    if (tls && !settings.has(tls.secureContext)) settings.set(tls.secureContext, settings.size);
    const { transport = 'tcp', role, tlsAfter } = upstream;
    // Addresses with different TLS settings, such as another certificate, are tested separately because results may
    // differ.
    const key = JSON.stringify([
      place.host,
      place.port,
      transport,
      role,
      tls && settings.get(tls.secureContext),
      !tlsAfter,
    ]);
    const known = targets.get(key);
    if (!known) targets.set(key, { ...place, tls, tlsAfter, transport, role, pointers: [pointer] });
    else if (!known.pointers.includes(pointer)) known.pointers.push(pointer);
  }
  return targets.values();
}

const standardPorts: Readonly<Record<string, number>> = { http: 80, ws: 80, https: 443, wss: 443 };

/** @returns null for an invalid address, which is reported elsewhere. */
function placeOf(address: string, otherwise: number | undefined): Pick<Address, 'host' | 'port'> | null {
  const path = socketOfHost(address);
  if (path !== null) return { host: path, port: 0 };
  const [, scheme = '', rest = ''] = /^(?:([a-z][a-z\d+.-]*):\/\/)?([^/?#]*)/i.exec(address)!;
  // The address is parsed as a web URL, which converts internationalized names to ASCII and omits port 80.
  const url = URL.parse(`http://${rest}`);
  if (!url || rest === '') return null;
  const [, written] = /:(\d+)$/.exec(rest) ?? [];
  const port = written === undefined ? (otherwise ?? standardPorts[scheme.toLowerCase()]) : Number(written);
  return port ? { host: url.hostname.replace(/^\[|\]$/g, ''), port } : null;
}

function nameOf(host: string, port: number): string {
  if (host.startsWith('/')) return `unix://${host}`;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function errorOf({ host, port, role, pointers }: Target, { code, message, hint }: ConnectProblem): ConfigError {
  const [pointer = '', ...related] = pointers;
  const name = `${role ? `the ${role} ` : ''}${nameOf(host, port)}`;
  return new ConfigError(code, pointer, `${name} ${message}`, { hint, related });
}
