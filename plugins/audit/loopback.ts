import { isIPv4 } from 'node:net';

/** Returns whether a listen address (`host:port`, `unix:/path` or `off`) is unreachable from other hosts. */
export function isLoopback(listen: string): boolean {
  if (listen === 'off' || listen.startsWith('unix:')) return true;
  const host = listen.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
