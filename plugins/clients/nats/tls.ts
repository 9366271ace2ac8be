import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { isObject, type Site } from '#contract';
import { runtimeTls, type TlsClient } from '../tls/client-tls.ts';
import type { NatsSettings } from './address.ts';

/** TLS settings for a list of servers. The server that is called must present a certificate with its own name. */
interface DemandedTls extends TlsClient {
  readonly servername?: '';
}

/** Verifies the server's name even if it is an IP address, which cannot be sent as the TLS server name. */
export function demandedTls({ tls, servers }: Pick<NatsSettings, 'tls' | 'servers'>): DemandedTls {
  const hosts = servers.map((server) => server.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''));
  if (!hosts.some((host) => isIP(host) !== 0)) return tls;
  const check = tls.checkServerIdentity ?? checkServerIdentity;
  return {
    ...tls,
    servername: '',
    checkServerIdentity: (_name: string, certificate: PeerCertificate) => {
      const problems = hosts.map((host) => check(host, certificate));
      return problems.includes(undefined) ? undefined : problems[0];
    },
  };
}

/**
 * Registers the servers for `sluice check --connect`. TLS starts after the server's greeting: if required, or else if
 * offered. @param at as for `Site.connectsTo`.
 */
export function nameServers(
  site: Pick<Site<unknown>, 'connectsTo'>,
  settings: Pick<NatsSettings, 'tls' | 'servers' | 'needsTls'>,
  at: string,
): void {
  const tls = () => (settings.needsTls ? demandedTls(settings) : runtimeTls());
  const tlsAfter = (greeting: string) => offersTls(greeting, settings.needsTls);
  for (const address of settings.servers) site.connectsTo({ address, tls, tlsAfter }, at);
}

/** @param greeting such as `INFO {"tls_required":true}`. @throws Error for any other greeting, and if required TLS is not offered. */
function offersTls(greeting: string, isDemanded: boolean): boolean {
  const [, text] = /^INFO\s+(\{.*\})\s*$/i.exec(greeting) ?? [];
  if (text === undefined) throw new Error('the server is not a NATS server');
  let info: unknown;
  try {
    info = JSON.parse(text);
  } catch {
    throw new Error('the INFO message of the server is not valid JSON');
  }
  const isOffered = isObject(info) && (info['tls_required'] === true || info['tls_available'] === true);
  if (isDemanded && !isOffered) throw new Error('the server does not offer TLS, which is required');
  return isOffered;
}
