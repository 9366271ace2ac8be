import { definePlugin } from '#contract';
import { openSrv } from './lib/srv.ts';

/** Backends that name the same record share its list and its timer; see `openSrv` for what is refused. */
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
