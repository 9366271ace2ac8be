import type { EndpointConfig } from '#contract';
import type { Registry } from '../../registry/registry.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import type { Build, SharedBuild } from '../attach/build.ts';
import { describeMerge } from '../response/describe-merge.ts';
import { type AttachedPipe, attachPipe } from './pipe.ts';
import { PlainRoute, type SharedPipe } from './plain-route.ts';
import type { Route } from './route.ts';

interface Shared {
  readonly pipe: SharedPipe;
  readonly acquired: SharedBuild;
}

/**
 * Endpoints without components, in one build. Most of thousands differ only in their paths and shapes: backends with
 * equal settings share one attachment, and their pipes are compiled on the first call.
 */
export class PlainEndpoints {
  /** Shared parts by form; null if one valid endpoint of the form exists, which shares nothing yet. */
  readonly #known = new Map<string, Shared | null>();
  readonly #acquired: SharedBuild[] = [];
  readonly #context: EndpointContext;

  private constructor(context: EndpointContext) {
    this.#context = context;
  }

  /** @returns null when the service attaches to every endpoint or backend, or when upstreams are recorded. */
  static of(context: EndpointContext): PlainEndpoints | null {
    const { build, service } = context;
    const attachesEach = service.some(({ at }) => at.eachEndpoint || at.eachBackend);
    return attachesEach || build.upstreams ? null : new PlainEndpoints(context);
  }

  /**
   * Returns the form of an endpoint: a text of all settings that affect its attachments and those of its backends; null
   * for an endpoint with components.
   */
  formOf({ extra_config: components, output_encoding: output, backend: backends }: EndpointConfig): string | null {
    if (backends.length === 0 || hasMembers(components)) return null;
    const form: unknown[] = [output];
    for (const { extra_config: own, encoding, sd, sd_scheme: scheme, disable_host_sanitize: isRaw, host } of backends) {
      if (hasMembers(own)) return null;
      form.push(encoding, sd, scheme, isRaw, host);
    }
    return JSON.stringify(form);
  }

  /**
   * Creates the route of an endpoint whose form is known to be valid.
   * @returns null if the form is not known; undefined after errors, which are in `build.errors`.
   */
  route(form: string, endpoint: EndpointConfig, pointer: string): Route | null | undefined {
    const known = this.#known.get(form);
    if (known === undefined) return null;
    const shared = known ?? this.#attach(form, endpoint, pointer);
    if (!shared) return undefined;
    const { pipe, acquired } = shared;
    const { build, log } = this.#context;
    if (endpoint.backend.length > 1) describeMerge(pipe.pipe, log.at(`[ENDPOINT: ${endpoint.endpoint}]`));
    const hold = acquired.lease();
    return new PlainRoute(pipe, endpoint, hold, build.traffic(endpoint, hold));
  }

  #attach(form: string, endpoint: EndpointConfig, pointer: string): Shared | undefined {
    const { build: service, registry, log, agent, requestId, addCertificate } = this.#context;
    const acquired = service.forShared();
    this.#acquired.push(acquired);
    const offers = this.#context.offers.within();
    const pipe = attachPipe({ ...this.#context, build: acquired.build, offers }, endpoint, pointer, log);
    if (!pipe) return undefined;
    const inflate = Boolean(service.config.router.decompress_gzip);
    const { reads } = acquired.build;
    const shared = {
      pipe: { pipe, reads, inflate, context: { registry, log, agent, requestId, addCertificate } },
      acquired,
    };
    this.#known.set(form, shared);
    return shared;
  }

  /**
   * Called after an endpoint was attached on its own: if it is valid and all of its attachments can be shared, others
   * of its form share one.
   */
  learn(form: string, { output, backends }: AttachedPipe, { backend: configs }: EndpointConfig, build: Build): void {
    const { registry } = this.#context;
    const encodings = [output.name, ...configs.map(({ encoding }) => encoding)];
    const isOwn =
      build.hasRegistered ||
      backends.some(({ isShareable }) => !isShareable) ||
      encodings.some((name) => isFromFile(registry, `encoding/${name}`)) ||
      configs.some(({ sd }) => isFromFile(registry, `discovery/${sd}`));
    if (!isOwn) this.#known.set(form, null);
  }

  /** Called after the last endpoint: releases what no endpoint holds. */
  async close(): Promise<void> {
    for (const acquired of this.#acquired) await acquired.release();
  }
}

function hasMembers(record: object): boolean {
  for (const _name in record) return true;
  return false;
}

/**
 * Whether a plugin is from a file. Its faults are contained for each endpoint separately, so endpoints cannot share it.
 */
function isFromFile(registry: Registry, name: string): boolean {
  return registry.plugin(name)?.source !== undefined;
}
