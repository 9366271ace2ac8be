import type { Order } from '#contract';

/**
 * The order of plugins in each phase, outermost first: the outermost sees the request first and the reply last. Every
 * name that a configuration may use and that has a place of its own stands here, also of those that are still to come. A
 * plugin of another make says where it stands with `outside` or `inside`.
 */
export const order: Order = {
  middleware: ['security/http', 'telemetry/logging'],
  request: [
    // Whatever becomes of a request, no log shows its key.
    'auth/api-keys',
    // What measures sees everything, refusals included.
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    'telemetry/metrics',
    'telemetry/moesif',
    // Heads: those above see what was sent.
    'modifier/response-headers',
    // Preflights are answered before anything else may refuse them, and no refusal lacks the headers of CORS.
    'security/cors',
    'plugin/http-server',
    'security/http',
    // What bots and credentials are known by may stand in the body.
    'modifier/request-body-extractor',
    'security/bot-detector',
    'modifier/lua-endpoint',
    // Files are found by the path that the client asks for.
    'server/static-filesystem',
    // Another path: immediately before the endpoint is looked for.
    'server/virtualhost',
    'grpc',
  ],
  endpoint: [
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    'telemetry/metrics',
    'security/cors',
    'security/http',
    // The filter of addresses: before credentials are looked at.
    'plugin/req-resp-modifier',
    // Limits of the whole service: once it is known that there is an endpoint, before anything of it looks at the request.
    'qos/ratelimit/service',
    'qos/ratelimit/service/redis',
    'service: qos/ratelimit/tiered',
    'service: governance/quota',
    'modifier/request-body-extractor/early',
    'security/bot-detector',
    'auth/api-keys',
    'auth/basic',
    'auth/validator',
    // Replaces what the backend answered by tokens: outside of scripts and limits.
    'auth/signer',
    'security/policies',
    'modifier/lua-endpoint',
    // The limiters stand inside authentication: requests that are refused for their credentials spend nothing.
    'qos/ratelimit/router',
    'qos/ratelimit/router/redis',
    'qos/ratelimit/tiered',
    'governance/quota',
    'websocket',
    'ai/mcp',
    'ai/chat-completions',
  ],
  proxy: [
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    'telemetry/metrics',
    // What backends are to know of the client is there before anything looks at the request.
    'auth/api-keys',
    'modifier/request-body-extractor',
    'modifier/lua-proxy',
    'security/policies',
    'validation/cel',
    // The body is validated before anything is spent on backends.
    'validation/json-schema',
    // The last word on the data: outside of everything that makes it.
    'validation/response-json-schema',
    'modifier/response-body-generator',
    'modifier/response-body',
    'modifier/jmespath',
    // Static data is added to what everything inside answered, plugins included.
    'proxy',
    'plugin/middleware',
    'plugin/req-resp-modifier',
    'modifier/request-body-generator',
    'modifier/body-generator',
    'workflow',
  ],
  backend: [
    // Takes away the message that a GET has no place for, before anything makes a body of its own.
    'grpc',
    'backend/conditional',
    // What builds the request does so before anybody looks at it.
    'backend/graphql',
    'backend/soap',
    // What modifiers refuse is none of the breaker's business.
    'plugin/req-resp-modifier',
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    'telemetry/metrics',
    // Whatever fails inside the breaker, limiter and scripts included, counts.
    'qos/circuit-breaker',
    'qos/ratelimit/proxy',
    'governance/quota',
    'plugin/middleware',
    'modifier/lua-backend',
    'security/policies',
    'validation/cel',
    'validation/response-json-schema',
    'modifier/response-body-generator',
    'modifier/response-body',
    'modifier/jmespath',
    'modifier/request-body-generator',
    'modifier/body-generator',
    'workflow',
    'ai/llm',
    'proxy',
    // The log sees what the backend answered, decoded, before anything else changes it.
    'telemetry/logging',
  ],
  transport: [
    // Failures turned into data by return_error_details are seen by the plain breaker, outside the decoder.
    'backend/http',
    // Failures are reported, and streams rewritten, once nothing else changes what the vendor has answered.
    'ai/llm',
    'modifier/martian',
    'plugin/http-client',
    // What is fresh is answered without credentials, log or breaker.
    'qos/http-cache',
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    // The log sees what the backend really answered.
    'telemetry/logging',
    'qos/circuit-breaker/http',
    // Signatures cover everything that is sent: innermost.
    'auth/client-credentials',
    'auth/gcp',
    'auth/ntlm',
    'auth/aws-sigv4',
  ],
};
