import type { Order } from '#contract';

/**
 * The order of plugins in each phase, outermost first: the outermost sees the request first and the reply last. A plugin
 * of another make says where it stands with `outside` or `inside`.
 */
export const order: Order = {
  router: ['security/http', 'telemetry/logging'],
  request: ['security/http'],
  endpoint: [
    'security/http',
    // The limiter stands inside authentication: requests that are refused for their credentials spend nothing.
    'qos/ratelimit/router',
  ],
  proxy: [
    // The body is validated before anything is spent on backends; static data is added to what they answered.
    'validation/json-schema',
    'proxy',
  ],
  // The breaker stands outermost: whatever fails inside it, limiter and scripts included, counts.
  backend: [
    'qos/circuit-breaker',
    'proxy',
    // The log sees what the backend answered, decoded, before anything else changes it.
    'telemetry/logging',
  ],
  transport: [
    // Failures turned into data by return_error_details are seen by the plain breaker, outside the decoder.
    'backend/http',
    // The log sees what the backend really answered.
    'telemetry/logging',
    'qos/circuit-breaker/http',
  ],
};
