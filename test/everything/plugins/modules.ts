/** The arguments of handlers are untyped, as in a module written for KrakenD. */
type Next = (request: unknown) => unknown;
interface Client {
  defaultClient(request: unknown): unknown;
}

/** One handler of each kind. None changes a response, except for a field of the endpoint `graph`. */
export const plugin = {
  name: 'passing',
  apiVersion: 1,
  httpServer: () => (request: unknown, next: Next) => next(request),
  httpClient: (_config: unknown, host: Client) => (request: unknown) => host.defaultClient(request),
  middleware: () => (_context: unknown, request: unknown, next: Next) => next(request),
  responseModifier: () => (response: { data: Record<string, unknown> }) => {
    response.data['modified'] = true;
    return response;
  },
};
