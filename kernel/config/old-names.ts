/** Names of older releases; what stands left is read as what stands right. */
export type OldNames = Readonly<Record<string, string>>;

/** Fields of root, endpoint and backend in version 2. */
export const OLD_FIELDS: OldNames = {
  headers_to_pass: 'input_headers',
  querystring_params: 'input_query_strings',
  whitelist: 'allow',
  allowlist: 'allow',
  blacklist: 'deny',
  denylist: 'deny',
};

/** Fields of components in version 2. */
export const OLD_COMPONENT_FIELDS: OldNames = {
  'jwk-url': 'jwk_url',
  'propagate-claims': 'propagate_claims',
  'keys-to-sign': 'keys_to_sign',
  maxErrors: 'max_errors',
  logStatusChange: 'log_status_change',
  cacheSize: 'cache_size',
  maxRate: 'max_rate',
  clientMaxRate: 'client_max_rate',
  HashName: 'hash_name',
  TokenKeys: 'token_keys',
};

/** The components that had such fields; elsewhere the same words may be data. */
export const COMPONENTS_WITH_OLD_FIELDS: ReadonlySet<string> = new Set([
  'auth/validator',
  'auth/signer',
  'auth/revoker',
  'qos/circuit-breaker',
  'qos/ratelimit/router',
  'qos/ratelimit/proxy',
  'security/bot-detector',
]);

/** Old namespaces without their `github.com/` or `github_com/`; they are aliases in version 3 too. */
const OLD_NAMESPACES: OldNames = {
  'devopsfaith/krakend/proxy': 'proxy',
  'devopsfaith/krakend/http': 'backend/http',
  'devopsfaith/krakend/proxy/plugin': 'plugin/req-resp-modifier',
  'luraproject/lura/router/gin': 'router',
  'devopsfaith/krakend/transport/http/server/handler': 'plugin/http-server',
  'devopsfaith/krakend/transport/http/client/executor': 'plugin/http-client',
  'devopsfaith/krakend/transport/http/client/graphql': 'backend/graphql',
  'devopsfaith/krakend-jose/validator': 'auth/validator',
  'devopsfaith/krakend-jose/signer': 'auth/signer',
  'devopsfaith/krakend-oauth2-clientcredentials': 'auth/client-credentials',
  'devopsfaith/bloomfilter': 'auth/revoker',
  'devopsfaith/krakend-apikeys': 'auth/api-keys',
  'devopsfaith/krakend-ratelimit/juju/router': 'qos/ratelimit/router',
  'devopsfaith/krakend-ratelimit/juju/proxy': 'qos/ratelimit/proxy',
  'devopsfaith/krakend-httpcache': 'qos/http-cache',
  'devopsfaith/krakend-circuitbreaker/gobreaker': 'qos/circuit-breaker',
  'devopsfaith/krakend-botdetector': 'security/bot-detector',
  'devopsfaith/krakend-httpsecure': 'security/http',
  'devopsfaith/krakend-cors': 'security/cors',
  'devopsfaith/krakend-cel': 'validation/cel',
  'devopsfaith/krakend-jsonschema': 'validation/json-schema',
  'devopsfaith/krakend-amqp/agent': 'async/amqp',
  'devopsfaith/krakend-amqp/consume': 'backend/amqp/consumer',
  'devopsfaith/krakend-amqp/produce': 'backend/amqp/producer',
  'devopsfaith/krakend-lambda': 'backend/lambda',
  'devopsfaith/krakend-pubsub/publisher': 'backend/pubsub/publisher',
  'devopsfaith/krakend-pubsub/subscriber': 'backend/pubsub/subscriber',
  'devopsfaith/krakend-lua/router': 'modifier/lua-endpoint',
  'devopsfaith/krakend-lua/proxy': 'modifier/lua-proxy',
  'devopsfaith/krakend-lua/proxy/backend': 'modifier/lua-backend',
  'devopsfaith/krakend-martian': 'modifier/martian',
  'devopsfaith/krakend-websocket': 'websocket',
  'devopsfaith/krakend-gologging': 'telemetry/logging',
  'devopsfaith/krakend-gelf': 'telemetry/gelf',
  'devopsfaith/krakend-logstash': 'telemetry/logstash',
  'devopsfaith/krakend-metrics': 'telemetry/metrics',
  'devopsfaith/krakend-influx': 'telemetry/influx',
  'letgoapp/krakend-influx': 'telemetry/influx',
  'devopsfaith/krakend-opencensus': 'telemetry/opencensus',
  'devopsfaith/krakend-swagger': 'documentation/openapi',
};

/** The present name of a namespace. @returns undefined when the name is not an old one. */
export function renamedNamespace(namespace: string): string | undefined {
  const path = /^github[._]com\/(.+)$/.exec(namespace)?.[1];
  return path !== undefined && Object.hasOwn(OLD_NAMESPACES, path) ? OLD_NAMESPACES[path] : undefined;
}

/** The old names of a namespace, without their `github.com/` or `github_com/`. */
export function oldNamespaces(namespace: string): string[] {
  return Object.keys(OLD_NAMESPACES).filter((name) => OLD_NAMESPACES[name] === namespace);
}
