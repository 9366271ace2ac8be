import { type AtEndpoint, BackendError, type Data, type DataObject, isObject, type Namespace, Reply } from '#contract';

/** For endpoints that a component answers by itself: the backends that are written there are never called and need no host. */
export const ownAnswer: AtEndpoint = {
  endpoint: (next) => next,
  eachBackend: () => ({
    protocol: { hostless: true, call: () => Reply.failed(new BackendError('BACKEND_UNUSED', 'is never called')) },
  }),
};

/** Fills in the backend that an endpoint with the component need not write. */
export function withoutBackend(name: Namespace): (document: DataObject) => void {
  const hasComponent = (components: Data | undefined) => isObject(components) && Object.hasOwn(components, name);
  return ({ endpoints }) => {
    for (const endpoint of Array.isArray(endpoints) ? endpoints : []) {
      if (!isObject(endpoint) || Object.hasOwn(endpoint, 'backend') || !hasComponent(endpoint['extra_config']))
        continue;
      // The host keeps a mistake of the component from being reported once more, as a backend without one.
      endpoint['backend'] = [{ url_pattern: '/', host: ['http://localhost'] }];
    }
  };
}
