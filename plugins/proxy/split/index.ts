import {
  type AtEndpoint,
  atEndpoint,
  type Call,
  type DataObject,
  definePlugin,
  defineSlot,
  type EndpointSite,
  getKey,
  isObject,
  meterOf,
  meters,
  type PipeRequest,
  type Wrap,
} from '#contract';
import { checkVariants } from './check-variants.ts';
import { readValue } from './client-value.ts';
import { type SplitConfig, schema, type VariantConfig } from './schema.ts';
import { randomSlot, slotOf, slotsOf } from './slots.ts';

/** Position of the variant that a request gets. */
const variantSlot = defineSlot<number>('split variant');

/**
 * Sends each request to the backends of one variant, once all other components of the endpoint have changed it.
 *
 * Configuration faults: SPLIT_BACKEND, SPLIT_NAME, SPLIT_RAW, SPLIT_STICKY, SPLIT_WEIGHTS; warning SPLIT_NEVER.
 */
export const plugin = definePlugin({
  name: 'proxy/split',
  description: 'Splits the traffic of an endpoint between its backends, by weight or by request.',
  leaves: ['requests', 'data'],
  takes: [meters],
  meaning: (config) => ({ chooses: positionsIn(config) }),
  places: [atEndpoint(schema, attach)],
});

/** Positions of all backends in variants, in a configuration that is not validated yet. */
function positionsIn(config: Readonly<DataObject>): readonly number[] {
  const variants = getKey(config, 'variants');
  if (!Array.isArray(variants)) return [];
  return variants.flatMap((variant) => {
    const backends = isObject(variant) ? getKey(variant, 'backends') : undefined;
    return Array.isArray(backends) ? backends.filter((at) => typeof at === 'number') : [];
  });
}

function attach(site: EndpointSite<SplitConfig>): AtEndpoint {
  checkVariants(site);
  const { variants } = site.config;
  const total = variants.reduce((sum, { weight }) => sum + weight, 0);
  return {
    proxy: choosing(site),
    eachBackend: ({ index }) => {
      const members = variants.map(({ backends }) => backends.includes(index));
      if (!members.includes(true)) return {};
      return {
        condition: {
          holds: (_request, call) => members[call.get(variantSlot)!] === true,
          inWords: variants
            .filter((_variant, at) => members[at])
            .map((variant) => describe(variant, total))
            .join(', or '),
        },
      };
    },
  };
}

function describe({ name, weight, match }: VariantConfig, total: number): string {
  const share = weight > 0 ? `${Number(((weight / total) * 100).toFixed(2))} % of the requests` : '';
  const { strategy, key, value } = match ?? {};
  const matched = match ? `${strategy} ${key}${value === undefined ? '' : ` = ${JSON.stringify(value)}`}` : '';
  return `variant ${name}: ${[matched, share].filter(Boolean).join(', and ')}`;
}

function choosing(site: EndpointSite<SplitConfig>): Wrap<PipeRequest> {
  const { variants, sticky, seed } = site.config;
  const slots = slotsOf(variants.map(({ weight }) => weight));
  const matches = variants.flatMap(({ match }, at) => {
    if (!match) return [];
    const read = readValue(match.strategy, match.key);
    const { value } = match;
    return {
      at,
      holds: value === undefined ? (given: string) => given !== '' : (given: string) => given === value,
      read,
    };
  });
  const caller = sticky && readValue(sticky.strategy, sticky.key ?? '');
  const count = counter(site);
  const choose = (request: PipeRequest, call: Call): number => {
    for (const { at, holds, read } of matches) if (holds(read(request, call))) return at;
    const id = caller?.(request, call);
    return slots[id ? slotOf(seed + id) : randomSlot()]!;
  };
  return (next) => (request, call) => {
    const variant = choose(request, call);
    count(variant);
    return next(request, call.with(variantSlot, variant));
  };
}

/** Counts requests by variant, if metrics are exported. */
function counter(site: EndpointSite<SplitConfig>): (variant: number) => void {
  const counted = meterOf(site)?.counter('split.requests', {
    description: 'Number of requests by variant of a traffic split.',
  });
  if (!counted) return () => {};
  const route = site.endpoint.endpoint;
  const attributes = site.config.variants.map(({ name }) => ({ route, variant: name }));
  return (variant) => counted.add(1, attributes[variant]!);
}
