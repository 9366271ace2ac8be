import { ConfigError, type UpstreamTls } from '#contract';
import type { NamedUpstream } from '../pipeline/upstreams.ts';
import { type Address, connectTo, lookUp, type Trouble } from './try-address.ts';

/** Addresses that are tried at once. */
const AT_ONCE = 20;

/** What came of trying. */
export interface Tried {
  /** How many addresses there were. */
  readonly addresses: number;
  /** One for each that could not be connected to; `related` has the other places that name it. */
  readonly errors: readonly ConfigError[];
}

/** An address, with everybody who names it. */
interface Target extends Address {
  readonly role: string | undefined;
  readonly pointers: string[];
}

/**
 * Tries whether the servers that a configuration names can be connected to, each address once: its name is looked up, TCP
 * connects and, where it is spoken from the first byte or after a greeting of the server, TLS agrees on everything. Nothing is
 * sent then, and the connection ends.
 *
 * Codes: CONNECT_NAME, CONNECT_REFUSED, CONNECT_TIMEOUT, CONNECT_GREETING, CONNECT_CERTIFICATE, CONNECT_TLS, CONNECT_FAILED.
 * @param timeoutMs for each address, all of that together.
 */
export async function tryUpstreams(upstreams: readonly NamedUpstream[], timeoutMs: number): Promise<Tried> {
  const targets = [...targetsOf(upstreams)];
  const errors: ConfigError[] = [];
  const waiting = targets.values();
  const work = async (): Promise<void> => {
    for (const target of waiting) {
      const trouble = await (target.transport === 'udp' ? lookUp(target, timeoutMs) : connectTo(target, timeoutMs));
      if (trouble) errors.push(errorOf(target, trouble));
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
    // With other settings, as another certificate, it may fail where it does not with these.
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

/** @returns null for what is no address, which is somebody else's to report. */
function placeOf(address: string, otherwise: number | undefined): Pick<Address, 'host' | 'port'> | null {
  const [, scheme = '', rest = ''] = /^(?:([a-z][a-z\d+.-]*):\/\/)?([^/?#]*)/i.exec(address)!;
  // As of the web, names in other scripts are written in ASCII; port 80 is then left out.
  const url = URL.parse(`http://${rest}`);
  if (!url || rest === '') return null;
  const [, written] = /:(\d+)$/.exec(rest) ?? [];
  const port = written === undefined ? (otherwise ?? standardPorts[scheme.toLowerCase()]) : Number(written);
  return port ? { host: url.hostname.replace(/^\[|\]$/g, ''), port } : null;
}

function errorOf({ host, port, role, pointers }: Target, { code, message, hint }: Trouble): ConfigError {
  const [pointer = '', ...related] = pointers;
  const name = `${role ? `the ${role} ` : ''}${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new ConfigError(code, pointer, `${name} ${message}`, { hint, related });
}
