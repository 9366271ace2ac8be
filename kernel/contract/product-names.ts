import type { RouterOptions } from './router-config.ts';

/** The names by which clients and backends know the gateway. */
export interface ProductNames {
  /** Header of every response. */
  readonly header: string;
  /** Header that tells whether a response is complete. */
  readonly completed: string;
  /** Value of `header`. */
  readonly version: string;
  /** The gateway's own `User-Agent`. */
  readonly agent: string;
}

/** @param version of the release, as in `1.2.3`. */
export function productNames(
  { compatible_headers: isCompatible, hide_version_header: isHidden }: RouterOptions,
  version: string,
): ProductNames {
  const header = isCompatible ? 'X-Krakend' : 'X-Gateway';
  return {
    header,
    completed: `${header}-Completed`,
    version: `Version ${isHidden ? 'undefined' : version}`,
    agent: `${isCompatible ? 'KrakenD' : 'Sluice'} Version ${version}`,
  };
}
