import type { Served } from '../inspect/index.ts';
import { listRoutes, pointerOnly } from '../inspect/index.ts';
import { findMatch } from '../inspect/match.ts';
import type { Test } from './test.ts';

/** Endpoints and components of a configuration that tests have reached. */
export interface Coverage {
  readonly endpoints: { readonly all: readonly string[]; readonly untested: readonly string[] };
  readonly components: { readonly all: readonly string[]; readonly untested: readonly string[] };
}

/** Determines which endpoints the requests of tests reach, and with them which components. */
export async function coverageOf(served: Served, tests: readonly Test[]): Promise<Coverage> {
  const routes = listRoutes(served);
  const reached = new Set<string>();
  for (const { request } of tests) {
    const headers = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]);
    const { match } = await findMatch(served, request.method, request.path, pointerOnly, Object.fromEntries(headers));
    if (match.kind === 'route') reached.add(match.route.id);
  }
  const componentsOf = ({ namespaces, backends }: (typeof routes)[number]) => [
    ...namespaces,
    ...backends.flatMap((backend) => backend.namespaces),
  ];
  const service = Object.keys(served.config.extra_config).filter((name) => !/^[@$_#]/.test(name));
  const all = new Set([...routes.flatMap(componentsOf), ...service]);
  const used = new Set(routes.filter(({ id }) => reached.has(id)).flatMap(componentsOf));
  // Every request passes through the components of the service, so they count as reached.
  for (const name of reached.size > 0 ? service : []) used.add(name);
  const ids = routes.map(({ id }) => id);
  return {
    endpoints: { all: ids, untested: ids.filter((id) => !reached.has(id)) },
    components: { all: [...all].sort(), untested: [...all].filter((name) => !used.has(name)).sort() },
  };
}
