import type { DocumentedMetric } from './metrics.ts';

const server = ['http.request.method', 'http.route', 'http.response.status_code', 'url.scheme'];
const stage = ['http.request.method', 'http.route', 'error', 'canceled', 'complete'];
const backend = ['krakend.endpoint.route', 'krakend.endpoint.method'];
const client = ['http.request.method', 'http.route', ...backend, 'server.address', 'server.port'];

/** Attributes of a model call, in the semantic conventions of OpenTelemetry. */
const model = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model'];

/** Labels of metrics, by a pattern of their names. The first match applies; metrics without a match have no labels. */
export const labels: Readonly<Record<string, readonly string[]>> = {
  gateway_config_reloads_total: ['result', 'trigger'],
  gateway_config_reload_duration_seconds: ['phase'],
  gateway_config_info: ['revision', 'hash'],
  gateway_plugin_hook_seconds_total: ['plugin', 'hook'],
  'gateway_plugin_.*': ['plugin'],
  sluice_internal_errors_total: ['place'],
  sluice_secret_refreshes_total: ['store', 'result'],
  gateway_generations: ['state'],
  gateway_generation_requests: ['revision'],
  gateway_workers: ['state'],
  'gateway_log_lines_lost_total|gateway_process_.*': ['worker'],
  'gateway_endpoint_(?:requests|errors)_total|gateway_endpoint_duration_seconds': ['method', 'endpoint'],
  gateway_endpoint_responses_total: ['method', 'endpoint', 'status_class'],
  gateway_backend_responses_total: ['method', 'endpoint', 'backend', 'status_class'],
  'http\\.server\\..*': server,
  'krakend\\.proxy\\.duration': stage,
  'krakend\\.backend\\.duration': [...stage, ...backend],
  'http\\.client\\.response\\.read\\.errors': [...client, 'error'],
  'http\\.client(?:\\.request)?\\.duration|http\\.client\\.(?:request|response)\\.(?:body\\.)?size': [
    ...client,
    'http.response.status_code',
  ],
  'http\\.client\\..*': client,
  'classifier\\..*': ['classifier', 'result'],
  'prompt_guard\\.requests': ['endpoint', 'result', 'guard', 'severity'],
  'redaction\\.values': ['endpoint', 'kind'],
  'semantic_cache\\.requests': ['endpoint', 'result'],
  'ai\\.router\\.attempts': ['route', 'provider', 'result'],
  'ai\\.router\\.failovers': ['route', 'provider', 'failed'],
  'split\\.requests': ['route', 'variant'],
  'websocket\\.messages': ['endpoint', 'direction'],
  'websocket\\.failures': ['endpoint', 'side', 'reason'],
  'websocket\\..*': ['endpoint'],
  'backend\\.retries': ['route', 'backend', 'reason'],
  'backend\\.retry\\.results': ['route', 'backend', 'result'],
  'http_cache\\.requests': ['route', 'backend', 'result'],
  'plugin\\.sync\\.duration': ['plugin', 'kind'],
  'plugin\\.faults': ['plugin', 'hook'],
  'agent\\.messages': ['agent', 'outcome'],
  'external_auth\\..*': ['endpoint', 'result'],
  'introspection\\..*': ['endpoint', 'result'],
  'llm\\.tokens': ['vendor', 'endpoint'],
  'oidc\\.logins': ['provider', 'event', 'result'],
  'oidc\\..*': ['endpoint', 'result'],
  'ai\\.cost': ['vendor', 'model', 'endpoint'],
  'ai\\.budget\\.reservations': ['quota', 'result'],
  'gen_ai\\.client\\.token\\.usage': [...model, 'gen_ai.token.type'],
  'gen_ai\\.client\\..*': [...model, 'error.type'],
  'mcp\\.server\\.operation\\.duration': ['mcp.method.name', 'gen_ai.tool.name', 'error.type'],
  nodejs_gc_duration_seconds: ['kind'],
  krakend_router_responses_total: ['endpoint', 'status'],
  'krakend_router_response_.*': ['endpoint'],
  krakend_router_tls_version_total: ['version'],
  krakend_router_tls_cipher_total: ['cipher'],
  'krakend_proxy_.*': ['layer', 'name', 'complete', 'error'],
};

const counter = (name: string, meaning: string): DocumentedMetric => ({ name, type: 'counter', unit: '', meaning });
const histogram = (name: string, meaning: string): DocumentedMetric => ({
  name,
  type: 'histogram',
  unit: 's',
  meaning,
});
const summary = (name: string, unit: string, meaning: string): DocumentedMetric => ({
  name,
  type: 'summary',
  unit,
  meaning,
});
const gauge = (name: string, unit: string, meaning: string): DocumentedMetric => ({
  name: `krakend_service_${name}`,
  type: 'gauge',
  unit,
  meaning,
});

/** Metrics of components, which exist while a component exports metrics. */
export const componentMetrics: readonly DocumentedMetric[] = [
  counter('agent.messages', 'Number of messages that were processed, or dropped before processing.'),
  counter('amqp.discarded', 'Number of messages that were dropped.'),
  counter('amqp.undecoded', 'Number of messages that could not be decoded.'),
  counter('backend.retries', 'Number of attempts after the first one.'),
  counter('backend.retry.results', 'Number of backend requests that met a condition for a retry.'),
  counter('classifier.choices', 'Classifications of requests, by result: chosen or failed.'),
  histogram('classifier.duration', 'Duration of classifications.'),
  counter('http_cache.requests', 'Number of requests to backends with a cache.'),
  counter(
    'external_auth.decisions',
    'Number of requests on which the server decided, by result: accepted, rejected, failed or cached.',
  ),
  histogram('external_auth.duration', 'Duration of decisions that were not in the cache.'),
  histogram('introspection.duration', 'Duration of introspections whose result was not in the cache.'),
  counter('introspection.tokens', 'Number of tokens that were checked, by result: active, inactive, failed or cached.'),
  counter('ai.router.attempts', 'Number of provider calls made by routers.'),
  counter('ai.router.failovers', 'Number of failovers: provider calls that follow the failure of another provider.'),
  counter('ai.budget.reservations', 'Number of requests with a token budget, by result: accepted or rejected.'),
  counter('ai.cost', 'Cost of tokens, calculated from the prices in the configuration.'),
  {
    name: 'gen_ai.client.token.usage',
    type: 'histogram',
    unit: '{token}',
    meaning: 'Number of input and output tokens of each model call.',
  },
  histogram('gen_ai.client.operation.duration', 'Duration of model calls, including streamed responses.'),
  histogram('gen_ai.client.operation.time_to_first_chunk', 'Time until the first message of a stream arrives.'),
  counter('llm.tokens', 'Number of tokens in prompts and responses of models.'),
  histogram('mcp.server.operation.duration', 'Duration of tool calls.'),
  histogram('oidc.duration', 'Duration of refreshes, and of redirects to a login.'),
  counter('oidc.logins', 'Logins and logouts of a provider, by result: completed, denied, invalid or failed.'),
  counter('oidc.requests', 'Requests by session: cached (valid), missing, refreshed, ended or failed.'),
  counter('plugin.faults', 'Number of errors in hooks of plugins that were loaded from files.'),
  histogram('plugin.sync.duration', 'Time during which plugin calls blocked the event loop.'),
  counter(
    'prompt_guard.requests',
    'Number of requests that prompt guards have inspected, by result: passed or blocked.',
  ),
  counter('pubsub.discarded', 'Number of messages that were dropped unread.'),
  counter('pubsub.undecoded', 'Number of messages that could not be decoded.'),
  counter('redaction.values', 'Number of different personal values that were replaced in requests.'),
  counter(
    'semantic_cache.requests',
    'Number of requests with a semantic cache, by result: hit, miss, bypass or failed.',
  ),
  counter('split.requests', 'Number of requests by variant of a traffic split.'),
  { name: 'websocket.connections', type: 'gauge', unit: '', meaning: 'Number of open client WebSockets.' },
  counter('websocket.dropped', 'Number of messages that were not delivered.'),
  counter('websocket.failures', 'Number of client and backend connections that ended with an error.'),
  counter('websocket.messages', 'Number of messages from and to clients.'),
  counter('websocket.reconnections', 'Number of reconnections to backends.'),
];

/** Metrics of telemetry/metrics in the Prometheus text format. */
export const statistics: readonly DocumentedMetric[] = [
  counter('krakend_router_responses_total', 'Responses of an endpoint, by status.'),
  summary('krakend_router_response_size_bytes', 'bytes', 'Size of response bodies.'),
  summary('krakend_router_response_time_seconds', 'seconds', 'Duration of requests.'),
  counter('krakend_router_tls_version_total', 'Requests, by TLS version.'),
  counter('krakend_router_tls_cipher_total', 'Requests, by cipher suite.'),
  counter('krakend_router_connected_total', 'Requests that reached an endpoint.'),
  counter('krakend_router_disconnected_total', 'Completed requests of endpoints.'),
  counter('krakend_proxy_requests_total', 'Runs of the pipeline of an endpoint or backend, by outcome.'),
  summary(
    'krakend_proxy_latency_seconds',
    'seconds',
    'Duration of the pipeline of an endpoint or backend, by outcome.',
  ),
  {
    name: 'krakend_router_connected',
    type: 'gauge',
    unit: '',
    meaning: 'Requests that reached an endpoint in the current window.',
  },
  {
    name: 'krakend_router_disconnected',
    type: 'gauge',
    unit: '',
    meaning: 'Requests that ended in the current window.',
  },
  {
    name: 'krakend_router_connected_gauge',
    type: 'gauge',
    unit: '',
    meaning: 'Requests that reached an endpoint in the last complete window.',
  },
  {
    name: 'krakend_router_disconnected_gauge',
    type: 'gauge',
    unit: '',
    meaning: 'Requests that ended in the last complete window.',
  },
  gauge('debug_GCStats_NumGC', '', 'Garbage collections.'),
  gauge('debug_GCStats_PauseTotal', 'nanoseconds', 'Time spent in garbage collections.'),
  summary('krakend_service_debug_GCStats_Pause', 'nanoseconds', 'Duration of garbage collections.'),
  summary('krakend_service_runtime_MemStats_PauseNs', 'nanoseconds', 'Duration of garbage collections.'),
  gauge('runtime_MemStats_HeapAlloc', 'bytes', 'Used size of the heap.'),
  gauge('runtime_MemStats_HeapSys', 'bytes', 'Size of the heap.'),
  gauge('runtime_MemStats_Sys', 'bytes', 'Resident memory.'),
  gauge('runtime_MemStats_NumGC', '', 'Garbage collections.'),
  gauge('runtime_NumGoroutine', '', 'Active handles that keep the process alive, such as sockets and timers.'),
  gauge('runtime_EventLoopLag_mean', 'nanoseconds', 'Mean delay of the event loop in the last window.'),
  gauge('runtime_EventLoopLag_max', 'nanoseconds', 'Longest delay of the event loop in the last window.'),
  gauge('runtime_EventLoopLag_99_percentile', 'nanoseconds', '99th percentile of the delay of the event loop.'),
];
