import { isAddressRange, isHeaderName } from '#contract';
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
    if (isAddressRange(proxy)) return;
    const message = `${JSON.stringify(proxy)} is neither an address nor a range such as "10.0.0.0/8"`;
    report.error('ROUTER_TRUSTED_PROXY', `${AT}/trusted_proxies/${index}`, message);
  });
  headers.forEach((header, index) => {
    if (isHeaderName(header)) return;
    const message = `${JSON.stringify(header)} cannot be the name of a header`;
    report.error('ROUTER_IP_HEADER', `${AT}/remote_ip_headers/${index}`, message);
  });
  if (isForwarded && proxies.length === 0) {
    const message = 'forwarded_by_client_ip has no effect without trusted_proxies: no proxy is trusted';
    report.warn('ROUTER_NO_TRUSTED_PROXIES', `${AT}/forwarded_by_client_ip`, message);
  } else if (!isForwarded && proxies.length > 0) {
    const message = 'trusted_proxies has no effect unless forwarded_by_client_ip is true';
    report.warn('ROUTER_PROXIES_UNUSED', `${AT}/trusted_proxies`, message);
  }
};
