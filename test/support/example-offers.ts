import { readFileSync } from 'node:fs';
import { type Offer, offer, type Plugin, type Site, type Wrap } from '#contract';
import { foldSettled } from '../../kernel/pipeline/steps/settle.ts';
import { openHarness } from '../../kernel/testing/index.ts';
import { type Classifiers, classifiersPort } from '../../plugins/ai/lib/classifiers.ts';
import { redisConnections } from '../../plugins/clients/redis/port.ts';
import { grpcCatalog } from '../../plugins/engines/grpc/catalog.ts';
import { linkSets } from '../../plugins/grpc/descriptor-sets.ts';
import { quotas } from '../../plugins/shared/ports/quotas.ts';
import { exampleModule } from '../../scripts/docs/example-module.ts';
import { SHOP } from './grpc/server.ts';
import { pipePlugins } from './pipe-plugins.ts';

/** A Redis that accepts every request. */
const counters = { name: 'counters', isOneServer: true, run: async () => [0, 0] };

/** A quota that is never exhausted. */
const verdict = async () => ({ retrySeconds: null, allowances: [] });
const rule = { take: verdict, look: verdict, add: verdict };
const unbounded = {
  rules: new Map([
    ['gold', rule],
    ['free', rule],
  ]),
  settle: () => undefined,
};

/** Descriptors in which every path is a unary method. */
function descriptors() {
  const registry = linkSets([{ path: SHOP, bytes: readFileSync(SHOP) }], () => {});
  const method = registry.getService('shop.Shop')!.methods[0]!;
  return { registry, method: () => method, paths: [] };
}

/** The gate and the classifier that examples name. */
const classifiers: Classifiers = {
  gates: new Map([['premium', { inWords: 'always', readsBody: false, passes: () => true }]]),
  classifiers: new Map([['smart', { choose: async ([first]) => first! }]]),
};

/** Offers of other components, and of the component itself at the root, that its examples need. */
export async function exampleOffers(plugin: Plugin): Promise<readonly Offer[]> {
  const contain = (_place: object, attach: () => object) => settling(attach());
  const site = { takeAll: () => [], defer() {}, warm() {}, contain } as unknown as Site<undefined>;
  const { offers = [] } = exampleModule.always!(site);
  const takes = plugin.takes ?? [];
  const redis = offer(redisConnections, new Map([['counters', counters]]));
  const allowed = offer(quotas, new Map([['public', unbounded]]));
  const classifying = offer(classifiersPort, classifiers);
  const described = offer(grpcCatalog, descriptors());
  return [...offers, redis, allowed, classifying, described, ...(await ownOffers(plugin))].filter(({ port }) =>
    takes.some(({ name }) => name === port.name),
  );
}

async function ownOffers(plugin: Plugin): Promise<readonly Offer[]> {
  const { places = [], offers = [], takes = [] } = plugin;
  const service = places.find(({ at }) => at === 'service');
  if (!service || !takes.some((port) => offers.includes(port))) return [];
  const harness = await openHarness(plugin, 'service', service.schema.examples![0], {
    plugins: pipePlugins(plugin, 'service'),
  });
  await harness.close();
  return harness.attached.offers ?? [];
}

/** Converts errors that hooks throw into replies, as a pipeline does. */
function settling(attached: object): object {
  const settled = Object.entries(attached).map(([name, value]) => [
    name,
    typeof value === 'function' ? (next: never) => foldSettled([value as Wrap<object>], next) : value,
  ]);
  return Object.fromEntries(settled);
}
