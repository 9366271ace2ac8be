import type { Order } from '#contract';

/**
 * The order of plugins in each phase, outermost first: the outermost sees the request first and the reply last. Lists
 * every configurable name with a place of its own, including those of future plugins. Third-party plugins specify their
 * place with `outside` or `inside`.
 */
export const order: Order = {
  middleware: ['security/http', 'telemetry/logging'],
  request: [
    // Outermost, so that the API key of a request never appears in a log.
    'auth/api-keys',
    // Telemetry observes everything inside it, including rejections.
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    'telemetry/metrics',
    'telemetry/moesif',
    'telemetry/recorder',
    // Components outside of header modifiers see the headers that are sent.
    'modifier/response-headers',
    // Preflight requests are handled before anything else can reject them, and every rejection has CORS headers.
    'security/cors',
    'plugin/http-server',
    'security/http',
    // Values of the body are extracted before bots and credentials are identified, because these values may be in the
    // body.
    'modifier/request-body-extractor',
    'security/bot-detector',
    'modifier/lua-endpoint',
    // Files are looked up by the path that the client requests, before it is rewritten.
    'server/static-filesystem',
    // Rewrites the path immediately before the endpoint is looked up.
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
    // The address filter runs before credentials are checked.
    'plugin/req-resp-modifier',
    // Service-wide limits apply once an endpoint has been found, before any of its components processes the request.
    'qos/ratelimit/service',
    'qos/ratelimit/service/redis',
    'service: qos/ratelimit/tiered',
    'service: governance/quota',
    'modifier/request-body-extractor/early',
    'security/bot-detector',
    'auth/api-keys',
    'auth/basic',
    'auth/validator',
    'auth/introspection',
    'auth/oidc',
    'auth/http-signatures',
    'auth/external',
    // Replaces the backend's response with tokens: outside scripts and limits.
    'auth/signer',
    'security/policies',
    'modifier/lua-endpoint',
    // Rate limits run after authentication, so that requests with invalid credentials do not count.
    'qos/ratelimit/router',
    'qos/ratelimit/router/redis',
    'qos/ratelimit/tiered',
    // Personal data is replaced before classifiers of guards, caches and models see it.
    'ai/redaction',
    // Blocked prompts count for rate limits, but not for quotas.
    'ai/prompt-guard',
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
    // Client information for backends is added before anything reads the request.
    'auth/api-keys',
    'auth/http-signatures',
    'auth/external',
    'modifier/request-body-extractor',
    'modifier/lua-proxy',
    'security/policies',
    'validation/cel',
    // The body is validated before any backend is called.
    'validation/json-schema',
    // Validates the final data: outside everything that produces it.
    'validation/response-json-schema',
    'modifier/response-body-generator',
    'modifier/response-body',
    'modifier/jmespath',
    // Static data is added to the reply of everything inside, including plugins.
    'proxy',
    // Stored responses need none of the steps that call backends.
    'ai/semantic-cache',
    'plugin/middleware',
    'plugin/req-resp-modifier',
    'modifier/request-body-generator',
    'modifier/body-generator',
    'workflow',
    // Chooses the backends once nothing changes the request anymore.
    'proxy/split',
  ],
  backend: [
    // Removes the message from a GET request, which has no body, before any component creates a body of its own.
    'grpc',
    'backend/conditional',
    // Components that build the request run before any that read it.
    'backend/graphql',
    'backend/soap',
    // Rejections by modifiers do not count for the circuit breaker.
    'plugin/req-resp-modifier',
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    'telemetry/metrics',
    'ai/redaction',
    // Blocked prompts do not count for the circuit breaker.
    'ai/prompt-guard',
    // All failures inside the breaker count, including those of limits and scripts.
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
    // The cache compares the requests of clients, not the requests in the format of a vendor.
    'ai/semantic-cache',
    'ai/llm',
    'proxy',
    // Logs the decoded response of the backend, before components further out change it.
    'telemetry/logging',
  ],
  transport: [
    // The breaker `qos/circuit-breaker` is outside of the decoder, so it sees the failures that return_error_details turned into data.
    'backend/http',
    // Failures are reported, and streams rewritten, once nothing else changes the vendor's response.
    'ai/llm',
    'modifier/martian',
    'plugin/http-client',
    // Outside of credentials, logs and circuit breakers, which fresh cached responses do not need.
    'qos/http-cache',
    'telemetry/opentelemetry',
    'telemetry/newrelic',
    'telemetry/opencensus',
    // Logs the original response of the backend, before components further out change it.
    'telemetry/logging',
    'qos/circuit-breaker/http',
    // Records the requests that an attempt sends, before they are signed and after every component that decides whether
    // to send them.
    'backend/retry',
    // Signatures are innermost, so that they cover everything that is sent.
    'auth/client-credentials',
    'auth/gcp',
    'auth/ntlm',
    'auth/http-signatures',
    'auth/aws-sigv4',
    // Records requests and responses as they are sent.
    'telemetry/recorder',
  ],
};
