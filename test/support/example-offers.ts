import { type Offer, offer, type Plugin } from '#contract';
import { handlers } from '../../plugins/plugin/lib/handlers.ts';

/** What the examples of components take that other plugins offer, by the name of the port. */
const offered: ReadonlyMap<string, Offer> = new Map([
  [
    handlers.name,
    offer(handlers, {
      name: 'example',
      file: '/plugins/example.js',
      middleware: () => (_context: unknown, _request: unknown, next: () => unknown) => next(),
      requestModifier: () => () => undefined,
      responseModifier: () => () => undefined,
      httpClient: () => () => new Response(null),
      httpServer: () => (_request: unknown, next: () => unknown) => next(),
    }),
  ],
]);

/** What the examples of a component need of others. */
export function exampleOffers({ takes = [] }: Plugin): readonly Offer[] {
  return takes.flatMap(({ name }) => offered.get(name) ?? []);
}
