import type { Offer, Plugin, Site } from '#contract';
import { exampleModule } from '../../scripts/docs/example-module.ts';

/** What the examples of a component need of others. */
export function exampleOffers({ takes = [] }: Plugin): readonly Offer[] {
  const site = { takeAll: () => [], defer() {}, warm() {} } as unknown as Site<undefined>;
  const { offers = [] } = exampleModule.always!(site);
  return offers.filter(({ port }) => takes.some(({ name }) => name === port.name));
}
