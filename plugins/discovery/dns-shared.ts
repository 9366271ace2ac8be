import { definePlugin } from '#contract';
import { openSrv } from './lib/srv.ts';

/** Resolves hosts from SRV records. Backends with the same record share one host list and timer. */
export const plugin = definePlugin({
  name: 'discovery/dns-shared',
  description: 'Resolves backend hosts from the SRV records of a name, shared by all backends that use the name.',
  discoveries: [
    {
      name: 'dns-shared',
      open: (site) => openSrv(site, [], site.use('log').at('[SERVICE: discovery/dns-shared]')),
    },
  ],
});
