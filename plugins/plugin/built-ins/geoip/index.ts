import { type ClientRequest, type Infer, type Offer, offer, type Schema, type Site, type Wrap } from '#contract';
import { personalHeaders } from '../../../shared/http-headers/personal.ts';
import { geoLocations } from '../../../shared/ports/geo.ts';
import { openCityDatabase } from './database.ts';

export const schema = {
  type: 'object',
  description:
    'Settings of `geoip`, which looks up the location of the client and passes it to backends in the header `X-Geoip`.',
  required: ['citydb_path'],
  properties: {
    citydb_path: {
      type: 'string',
      minLength: 1,
      description: 'GeoIP2 or GeoLite2 City database (`.mmdb`), absolute or relative to the working directory.',
      examples: ['GeoLite2-City.mmdb'],
    },
  },
} as const satisfies Schema;

export type GeoipConfig = Infer<typeof schema>;

/** Part of the pipeline to which the built-in plugin `geoip` is attached. */
export interface Locating {
  readonly wrap: Wrap<ClientRequest>;
  readonly sets: readonly string[];
  readonly offers: readonly Offer[];
}

const HEADER = 'X-Geoip';

/**
 * Sets the header with the client's location, replacing any value that the client has sent, and offers address lookups
 * to other components.
 * @param pointer to its settings. @throws ConfigError GEOIP_FILE, GEOIP_DATABASE.
 */
export function locating(site: Site<unknown>, config: GeoipConfig, pointer: string): Locating {
  const find = openCityDatabase(site, config.citydb_path, `${pointer}/citydb_path`);
  return {
    wrap: (next) => (request, call) => {
      request.headers.set(HEADER, find(request.ip).json);
      return next(request, call);
    },
    sets: [HEADER],
    offers: [offer(geoLocations, (address) => find(address).data), offer(personalHeaders, [HEADER])],
  };
}
