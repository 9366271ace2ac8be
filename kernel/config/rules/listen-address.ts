import { isIP } from 'node:net';
import { LISTEN_ADDRESS_PATTERN } from '../../contract/internal.ts';
import type { ServiceRule } from './rule.ts';

const form = new RegExp(LISTEN_ADDRESS_PATTERN);

/**
 * `listen_ip` is an address, without a port.
 *
 * Code: LISTEN_ADDRESS.
 */
export const listenAddress: ServiceRule = ({ listen_ip: address }, report) => {
  if (form.test(address)) return;
  const [, bare = '', port] = /^\[?([\da-f.:]+?)\]?(:\d+)?$/i.exec(address) ?? [];
  const rest = port === undefined ? 'without brackets' : "the port belongs in 'port'";
  report.error('LISTEN_ADDRESS', '/listen_ip', `invalid ip address ${address}`, {
    hint: isIP(bare) === 0 ? 'an address such as "127.0.0.1"' : `"${bare}": ${rest}`,
  });
};
