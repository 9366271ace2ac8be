import { type AtEndpoint, BackendError, Reply } from '#contract';

/**
 * Settings for endpoints whose component produces the response itself: backends configured there are never called and
 * need no host.
 */
export const ownAnswer: AtEndpoint = {
  endpoint: (next) => next,
  eachBackend: () => ({
    protocol: { hostless: true, call: () => Reply.failed(new BackendError('BACKEND_UNUSED', 'is never called')) },
  }),
};
