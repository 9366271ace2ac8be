import { isIP } from 'node:net';
import type { ServiceRule } from './rule.ts';

/**
 * `listen_ip` is an address, without a port.
 *
 * Code: LISTEN_ADDRESS.
 */
export const listenAddress: ServiceRule = ({ listen_ip: address }, report) => {
  if (address === '' || isIP(address) !== 0) return;
  report.error('LISTEN_ADDRESS', '/listen_ip', `invalid ip address ${address}`);
};
