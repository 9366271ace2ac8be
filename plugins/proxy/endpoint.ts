import {
  type AtEndpoint,
  type BackendConfig,
  type EndpointSite,
  type Infer,
  mergeShallow,
  type PipeConfig,
  paramKey,
} from '#contract';
import { answeringBackends, isRaw, passesBytes } from './backends.ts';
import { combiners } from './combiner.ts';
import { fallback } from './fallback.ts';
import { compileFlatmap } from './flatmap.ts';
import type { endpointProxySchema } from './schema.ts';
import { type Link, type Propagated, sequential } from './sequential.ts';
import { staticData } from './static.ts';
import { isFallback, isSequence } from './strategy.ts';

type EndpointProxySite = EndpointSite<Infer<typeof endpointProxySchema>>;

/** Share of an endpoint's timeout available to a chain of backends; the rest is reserved for subsequent processing. */
const CHAIN_SHARE = 0.85;

/**
 * Attaches the namespace to an endpoint.
 *
 * @throws ConfigError PROXY_STATIC_RAW, PROXY_PROPAGATED, PROXY_FLATMAP_ARGS.
 */
export function attachEndpoint(site: EndpointProxySite): AtEndpoint {
  const { config, endpoint } = site;
  const { max_payload: maxBytes, decompress_gzip: inflate } = config;
  const backends = answeringBackends(endpoint);
  warnOfIdleOptions(site, backends.length);
  const isMerged = backends.length > 1 && !passesBytes(site);
  const propagated = compilePropagated(site, backends);
  const combine = isMerged && !isFallback(config) ? combiners[config.combiner] : undefined;
  const shape = config.flatmap_filter && compileFlatmap(config.flatmap_filter, site);
  if (config.static && passesBytes(site)) {
    const message = `static data requires a decoded response, but output_encoding is ${endpoint.output_encoding}`;
    throw site.fault('PROXY_STATIC_RAW', '/static', message, { related: [`${endpointPointer(site)}/output_encoding`] });
  }
  return {
    ...(config.static && { proxy: staticData(config.static.data, config.static.strategy), readsData: true }),
    ...(shape && isMerged && { shape, readsData: true }),
    ...(combine && { combine }),
    ...(isFallback(config) &&
      isMerged && {
        gather: fallback({ budgetMs: CHAIN_SHARE * endpoint.timeout, raw: backends.map((each) => isRaw(site, each)) }),
      }),
    ...(isSequence(config) &&
      isMerged && {
        gather: sequential({
          budgetMs: CHAIN_SHARE * endpoint.timeout,
          links: backends.map((backend, at): Link => ({ raw: isRaw(site, backend), propagated: propagated[at]! })),
          combine: combine ?? mergeShallow,
          ignoresErrors: (endpoint as PipeConfig).ignore_errors === true,
        }),
      }),
    ...((maxBytes > 0 || inflate) && { payload: { ...(maxBytes > 0 && { maxBytes }), ...(inflate && { inflate }) } }),
  };
}

/** Warns of options that have no effect, for reasons that may not be obvious. */
function warnOfIdleOptions(site: EndpointProxySite, responding: number): void {
  const { config, endpoint } = site;
  const idle = (option: string, reason: string) => site.warn('PROXY_IDLE', `/${option}`, `${option} ${reason}`);
  if (isFallback(config) && config.combiner !== 'default') {
    idle('combiner', 'has no effect with "strategy": "fallback", which returns a single response');
  }
  if (responding > 1 && !passesBytes(site)) return;
  const reason =
    responding > 1 ? `has no effect with ${endpoint.output_encoding}` : 'has no effect with a single backend';
  if (config.flatmap_filter) idle('flatmap_filter', reason);
  if (config.combiner !== 'default' && !isFallback(config)) idle('combiner', reason);
  if (isSequence(config)) idle('sequential', reason);
  if (isFallback(config)) idle('strategy', reason);
}

/** Pointer of the site's endpoint. */
function endpointPointer({ pointer }: EndpointProxySite): string {
  return pointer.slice(0, pointer.lastIndexOf('/extra_config'));
}

function compilePropagated(site: EndpointProxySite, backends: readonly BackendConfig[]): readonly Propagated[][] {
  const names = site.config.sequential_propagated_params;
  const perBackend: Propagated[][] = backends.map(() => []);
  const refuse = (pointer: string, message: string, at?: number) =>
    site.fault('PROXY_PROPAGATED', pointer, message, {
      related:
        at === undefined ? [] : [`${endpointPointer(site)}/backend/${site.endpoint.backend.indexOf(backends[at]!)}`],
    });
  if (names.length > 0 && !isSequence(site.config)) {
    throw site.fault(
      'PROXY_PROPAGATED',
      '/sequential_propagated_params',
      'parameters are only propagated if sequential is true',
      { hint: '"sequential": true' },
    );
  }
  for (const [index, name] of names.entries()) {
    const pointer = `/sequential_propagated_params/${index}`;
    const [, digits, field] = /^resp(\d+)(?:_(.+))?$/s.exec(name)!;
    const at = Number(digits);
    const backend = backends[at];
    if (!backend) throw refuse(pointer, `${name}: the endpoint has no backend ${at}; the first backend is 0`);
    const raw = isRaw(site, backend);
    if (field === undefined && !raw) {
      throw refuse(
        pointer,
        `${name} is the whole body, which is only available if backend ${at} has the encoding no-op`,
        at,
      );
    }
    if (field !== undefined && raw) {
      throw refuse(
        pointer,
        `${name}: backend ${at} has the encoding ${backend.encoding}, so its response has no fields`,
        at,
      );
    }
    if (at === backends.length - 1) {
      site.warn('PROXY_IDLE', pointer, `${name}: no backend follows backend ${at}`);
    }
    perBackend[at]!.push({ key: paramKey(name), path: field?.split('.') ?? null });
  }
  return perBackend;
}
