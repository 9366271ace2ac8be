import { definePlugin } from '#contract';
import { openSrv } from './lib/srv.ts';

/** Resolves hosts from SRV records. Every backend has its own host list and timer. */
export const plugin = definePlugin({
  name: 'discovery/dns',
  description: 'Resolves the hosts of a backend from the SRV records of a name.',
  discoveries: [
    {
      name: 'dns',
      open(site) {
        const { endpoint, index } = site;
        return openSrv(site, [endpoint.method, endpoint.endpoint, index], site.log);
      },
    },
  ],
});
