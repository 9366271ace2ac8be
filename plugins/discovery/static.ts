import { definePlugin } from '#contract';

/** Uses the hosts of the configuration. Setting `sd_scheme` as well causes a warning, SD_SCHEME_UNUSED. */
export const plugin = definePlugin({
  name: 'discovery/static',
  description: 'Uses the hosts of a backend as written.',
  discoveries: [
    {
      name: 'static',
      open(site) {
        const { host, sd_scheme: scheme } = site.backend;
        if (scheme !== 'http') {
          const message = 'sd_scheme has no effect on hosts that are written with their scheme';
          site.warn('SD_SCHEME_UNUSED', '/sd_scheme', message, { hint: 'change the scheme in "host"' });
        }
        return { current: host, fixed: true };
      },
    },
  ],
});
