import { adapt } from '../../plugins/plugin/adapt.ts';

/** Module used in the examples of components that run user code. */
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
