import { isIP } from 'node:net';
import { isHeaderName } from '#contract';
import type { ServiceRule } from './rule.ts';

const AT = '/extra_config/router';

/**
 * Whose word is taken for a client's address is well said.
 *
 * Codes: ROUTER_TRUSTED_PROXY, ROUTER_IP_HEADER; warnings ROUTER_NO_TRUSTED_PROXIES, ROUTER_PROXIES_UNUSED.
 */
export const trustedProxies: ServiceRule = ({ router }, report) => {
  const { trusted_proxies: proxies, forwarded_by_client_ip: isForwarded, remote_ip_headers: headers } = router;
  proxies.forEach((proxy, index) => {
    if (isRange(proxy)) return;
    const message = `${JSON.stringify(proxy)} is neither an address nor a range such as "10.0.0.0/8"`;
    report.error('ROUTER_TRUSTED_PROXY', `${AT}/trusted_proxies/${index}`, message);
  });
  headers.forEach((header, index) => {
    if (isHeaderName(header)) return;
    const message = `${JSON.stringify(header)} cannot be the name of a header`;
    report.error('ROUTER_IP_HEADER', `${AT}/remote_ip_headers/${index}`, message);
  });
  if (isForwarded && proxies.length === 0) {
    const message = 'forwarded_by_client_ip has no effect without trusted_proxies: no proxy is believed';
    report.warn('ROUTER_NO_TRUSTED_PROXIES', `${AT}/forwarded_by_client_ip`, message);
  } else if (!isForwarded && proxies.length > 0) {
    const message = 'trusted_proxies has no effect unless forwarded_by_client_ip is true';
    report.warn('ROUTER_PROXIES_UNUSED', `${AT}/trusted_proxies`, message);
  }
};

function isRange(text: string): boolean {
  const slash = text.indexOf('/');
  const version = isIP(slash < 0 ? text : text.slice(0, slash));
  if (version === 0 || slash < 0) return version !== 0;
  const bits = text.slice(slash + 1);
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}
