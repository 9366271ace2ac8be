import type { RouterOptions } from './router-config.ts';

/** Names of the gateway in requests and responses. */
export interface ProductNames {
  /** Header of every response. */
  readonly header: string;
  /** Header that reports whether a response is complete. */
  readonly completed: string;
  /** Value of the header `header`: name and version of the product. */
  readonly version: string;
  /** The gateway's own `User-Agent`. */
  readonly agent: string;
}

/** @param version release, for example `1.2.3`. */
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
