import type { ServiceConfig } from '#contract';
import type { Compiled } from '../pipeline/compile/compile.ts';
import type { Destinations } from '../server/routing/destinations.ts';
import { destinationsOf } from '../server/routing/destinations.ts';
import type { Router } from '../server/routing/router.ts';

/** A configuration as served, for inspection only; none of its code is called. */
export interface Served {
  readonly config: ServiceConfig;
  readonly compiled: Compiled;
  readonly router: Router;
  readonly destinations: Destinations;
}

/** Routes and endpoints of a compiled configuration, for inspection. */
export async function servedBy(config: ServiceConfig, compiled: Compiled): Promise<Served> {
  return { config, compiled, ...(await destinationsOf(config, compiled)) };
}
