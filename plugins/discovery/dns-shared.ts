import { definePlugin } from '#contract';
import { openSrv } from './lib/srv.ts';

/** Backends that name the same record share its list and its timer; see `openSrv` for what is refused. */
export const plugin = definePlugin({
  name: 'discovery/dns-shared',
  description: 'Looks up hosts in the SRV records of a name, once for all backends that name it.',
  discoveries: [
    {
      name: 'dns-shared',
      open: (site) => openSrv(site, [], site.use('log').at('[SERVICE: discovery/dns-shared]')),
    },
  ],
});
