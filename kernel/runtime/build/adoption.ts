import { resolve } from 'node:path';
import type { EndpointConfig } from '#contract';
import type { Attached } from '../../pipeline/attach/attach.ts';
import type { Reads } from '../../pipeline/attach/reads.ts';
import type { Route } from '../../pipeline/compile/route.ts';
import { type Earlier, RebuildNeeded, type ServiceFrame } from '../../pipeline/compile/service-frame.ts';
import { difference } from '../../values/difference.ts';
import type { EndpointLease } from '../kept/endpoint-lease.ts';
import type { ReadFiles } from '../prints/read-files.ts';
import type { Runtime } from '../runtime.ts';
import type { ConfigBuild } from './config-build.ts';
import { isSameService } from './shared-config.ts';

/**
 * The parts of the previous configuration that the next one reuses: everything around the endpoints, if neither the
 * service, its plugins nor the files it read have changed; and then every unchanged endpoint. Rebuilt and reused parts
 * behave alike, so in doubt a part is rebuilt.
 */
export class Adoption {
  readonly #before: Runtime;
  readonly #files: ReadFiles;
  /** Files of the previous configuration, by absolute path. */
  readonly #read: ReadonlyMap<string, string | null>;

  #routes: ReadonlyMap<EndpointConfig, Route> | null = null;

  private constructor(before: Runtime, files: ReadFiles) {
    this.#before = before;
    this.#files = files;
    this.#read = new Map(before.files.map(({ path, hash = null }) => [path, hash]));
  }

  /** @returns null if everything must be built. */
  static of(before: Runtime, read: Pick<Runtime, 'config' | 'registry'>, files: ReadFiles): Adoption | null {
    const { config, registry, compiled } = before;
    if (registry !== read.registry || !isSameService(config, read.config)) return null;
    const { service } = compiled.frame;
    if (!service.every(isIndependent)) return null;
    const adoption = new Adoption(before, files);
    const holdings = [before.scope, ...before.otherHolds];
    if (!holdings.every(({ builder }) => builder && adoption.#isUntouched(builder.reads))) return null;
    const [gone] = difference(config.endpoints, read.config.endpoints);
    for (const endpoint of gone) if (adoption.#isLearntFrom(endpoint)) return null;
    return adoption;
  }

  /** Adds the reused parts to a build. */
  into(build: ConfigBuild): Earlier {
    const { compiled, otherHolds } = this.#before;
    return {
      frame: compiled.frame,
      take: (index, endpoint) => {
        const route = this.#routeAt(compiled.routes, index, endpoint);
        if (route) build.adopt(route.hold as EndpointLease);
        else if (this.#isLearntFrom(endpoint))
          throw new RebuildNeeded(`${endpoint.endpoint} has provided values to other components`);
        return route;
      },
      takeRest: () => {
        for (const hold of otherHolds) build.adopt(hold);
      },
    };
  }

  #routeAt(routes: readonly Route[], index: number, endpoint: EndpointConfig): Route | null {
    const samePosition = routes[index];
    const route = samePosition?.endpoint === endpoint ? samePosition : this.#movedRoute(endpoint);
    return route && this.#isUntouched(route.reads) ? route : null;
  }

  /** Returns the route of an endpoint that has moved, unless its old position is visible, for example in a warning. */
  #movedRoute(endpoint: EndpointConfig): Route | undefined {
    const { config, compiled } = this.#before;
    if (!this.#routes && !config.endpoints.includes(endpoint)) return undefined;
    this.#routes ??= new Map(compiled.routes.map((route) => [route.endpoint, route]));
    const route = this.#routes.get(endpoint);
    if (!route || route.nested.length > 0) return undefined;
    const { warnings, handlerUses, sites } = (route.hold as EndpointLease).registered ?? {};
    return warnings?.length || handlerUses?.length || sites?.length ? undefined : route;
  }

  /** Whether a component at the root depends on the endpoint, according to its `learnsFrom`. */
  #isLearntFrom(endpoint: EndpointConfig): boolean {
    return this.#before.compiled.frame.service.some(({ at }) => at.learnsFrom?.(endpoint));
  }

  /** True if nothing that the endpoint read has changed. Service fields are unchanged when this is called. */
  #isUntouched({ gateway, settings, files }: Reads): boolean {
    return !gateway && !settings.includes('endpoints') && files.every(this.#isAsRead);
  }

  readonly #isAsRead = (written: string): boolean => {
    const path = resolve(written);
    const hash = this.#read.get(path) ?? null;
    return hash !== null && this.#files.hashOf(path) === hash;
  };
}

/** Whether the component passes nothing to endpoints, or declares which endpoints it depends on. */
function isIndependent({ plugin, at }: ServiceFrame['service'][number] | Attached<object>): boolean {
  const { eachEndpoint, eachBackend, offers } = at as ServiceFrame['service'][number]['at'];
  return plugin.independent === true || !(eachEndpoint || eachBackend || offers?.length);
}
