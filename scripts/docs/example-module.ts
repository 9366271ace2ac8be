import { adapt } from '../../plugins/plugin/adapt.ts';

/** The module that the examples of components name which run code of the operator's. */
export const exampleModule = adapt(
  {
    plugin: {
      name: 'example',
      apiVersion: 1,
      middleware: () => (_context: unknown, _request: unknown, next: () => unknown) => next(),
      requestModifier: () => () => undefined,
      responseModifier: () => () => undefined,
      httpClient: (_config: unknown, host: { defaultClient: unknown }) => host.defaultClient,
      httpServer: () => (_request: unknown, next: () => unknown) => next(),
    },
  },
  'plugins/example.js',
)!;
