import { type AtEndpoint, BackendError, Reply } from '#contract';

/** For endpoints that a component answers by itself: the backends that are written there are never called and need no host. */
export const ownAnswer: AtEndpoint = {
  endpoint: (next) => next,
  eachBackend: () => ({
    protocol: { hostless: true, call: () => Reply.failed(new BackendError('BACKEND_UNUSED', 'is never called')) },
  }),
};
