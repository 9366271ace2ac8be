import { isIP } from 'node:net';
import type { ServiceConfig } from '#contract';
import { type EndpointRule, routeName } from './rule.ts';

/** The gateway's own endpoints: a backend may well be one of those. */
const OWN = /^\/__(?:health|debug|echo|stats)(?:\/|$)/;

/**
 * No backend is the gateway itself, which would call itself until the timeout.
 *
 * Code: a warning, LOOP; for hosts of the root it is told once.
 */
export function ownAddress(service: ServiceConfig): EndpointRule {
  const known = new Map<string, boolean>();
  const told = new Set<string>();
  const isOwn = (host: string): boolean => {
    let answer = known.get(host);
    if (answer === undefined) {
      answer = leadsHere(host, service);
      known.set(host, answer);
    }
    return answer;
  };
  return (endpoint, pointer, _service, report) => {
    endpoint.backend.forEach((backend, index) => {
      if (OWN.test(backend.url_pattern)) return;
      const position = backend.host.findIndex(isOwn);
      if (position < 0) return;
      const holder = backend.host === service.host ? '' : `${pointer}/backend/${index}`;
      const place = `${holder}/host/${position}`;
      if (told.has(place)) return;
      told.add(place);
      const message = `${backend.host[position]} is this gateway itself: ${routeName(endpoint)} calls it again`;
      report.warn('LOOP', place, message, { related: ['/port'] });
    });
  };
}

function leadsHere(host: string, { port, listen_ip: ip }: ServiceConfig): boolean {
  if (!URL.canParse(host)) return false;
  const { hostname, port: written, protocol } = new URL(host);
  const target = Number(written) || (protocol === 'https:' ? 443 : 80);
  if (target !== port) return false;
  const name = hostname.replace(/^\[|\]$/g, '');
  const isLocal = name === 'localhost' || name === '::1' || name.startsWith('127.') || name === '0.0.0.0';
  return isLocal ? !isIP(ip) || /^(?:127\.|::1?$|0\.0\.0\.0$)/.test(ip) : name === ip;
}
