import type { Difference, Kind } from './differences.ts';

/** A difference that is by design. */
export interface Explanation {
  /** Objects and fields as printed, for example `endpoint auth/validator alg`; `*` matches any text. */
  readonly fields: readonly string[];
  readonly kind: Kind;
  /** The published rule, if the explanation holds for this rule only. */
  readonly published?: string;
  readonly because: string;
}

const DURATION = '^[0-9]+(ns|ms|us|µs|s|m|h)$';

/** Differences by design. A field that is not listed is a finding, even if its rule is as strict as that of another field. */
export const explanations: readonly Explanation[] = [
  {
    fields: ['*'],
    kind: 'pattern',
    published: DURATION,
    because: 'durations may also have fractions and several units, up to what the clock can count',
  },
  {
    fields: [
      '*headers[]',
      '*headers.*',
      '* auth_header_name',
      '* propagate_role',
      '*rename.*',
      '*add.*',
      '*replace.*',
      '* delete[]',
    ],
    kind: 'pattern',
    because: 'a text that is not a header name would never match a header',
  },
  {
    fields: ['*content_type', '* content_security_policy', '* custom_frame_options_value', '* referrer_policy'],
    kind: 'pattern',
    because: 'a text that is not a header value cannot be sent',
  },
  {
    fields: [
      ...['root listen_ip', 'root router trusted_proxies[]', 'root redis *addresses[]', 'root redis *address'],
      ...[
        '*proxy_address',
        '* ssl_host',
        'backend sd_scheme',
        'root security/cors allow_origins[]',
        '*server health_path',
      ],
      ...['root router health_path', '* jwk_fingerprints[]', '* md5.*', '*payload_params.*', '*.credentials'],
      ...['* region', '* sts_region', '*cluster.brokers[]', '* s2s_auth_header', 'root server/static-filesystem *'],
      ...[
        'root documentation/postman folder[].name',
        'endpoint documentation/postman folder',
        'root telemetry/gelf address',
      ],
      ...['root telemetry/metrics listen_address'],
      ...['root telemetry/newrelic headers_to_pass[]', 'endpoint security/cors allow_origins[]'],
    ],
    kind: 'pattern',
    because: 'a text of another form would fail at the first use',
  },
  {
    fields: ['endpoint endpoint'],
    kind: 'pattern',
    because: 'colons, stray braces and percent signs in paths are rejected before the routes are built',
  },
  {
    fields: ['*error.status', '*status'],
    kind: 'minimum',
    because: 'a status below 200 is not a final response',
  },
  { fields: ['*error.status', '*status'], kind: 'maximum', because: 'HTTP has no status above 599' },
  {
    fields: [
      ...[
        '*max_rate',
        '*capacity',
        '*cleanup_threads',
        '*num_shards',
        '*max_payload',
        '*cache_duration',
        '*sts_seconds',
      ],
      ...['*max_redirects', '*max_retries', '*.db', '*_connections', '*_per_host', '*max_header_bytes', '*_period'],
      ...['*.amount', '*rejecter_cache.N', '*rejecter_cache.P', '*recv_msg_size', '*_size', '*_seconds', '*_workers'],
      ...['*.top_k', '*.top_p', '*.variables.n', '*_tokens', '*candidate_count', '*port', '* N', '* P', '* TTL'],
      ...['* prefetch_count', '*ai/semantic-cache max_distance', '*.vector_dimension', '*.fetch_default'],
      ...['backend qos/circuit-breaker*'],
    ],
    kind: 'minimum',
    because: 'numbers below have no meaning',
  },
  {
    fields: [
      '*port',
      '*rejecter_cache.P',
      '*.top_p',
      '* P',
      '* N',
      '* prefetch_count',
      '*ai/semantic-cache max_distance',
    ],
    kind: 'maximum',
    because: 'numbers above have no meaning',
  },
  {
    fields: ['*max_header_bytes', '*_size', '*_seconds', '*_workers', '* TTL', '*_retries', '*.vector_dimension'],
    kind: 'maximum',
    because: 'memory, timers and connections have limits',
  },
  {
    fields: ['backend group', 'root name', 'root tls.keys[].*', '* ssl_host', 'root plugin.*'],
    kind: 'default',
    because: 'the published default is an example, which KrakenD does not apply',
  },
  {
    fields: [
      ...[
        'backend is_collection',
        'backend proxy shadow',
        '* ssl_redirect',
        'root security/cors *',
        '* workflow sequential',
      ],
      ...['*workflow proxy sequential', '* referrer_policy', '* auth/signer leeway', 'endpoint auth/validator alg'],
    ],
    kind: 'default',
    because: 'the published default is a suggestion for new files; an absent field means the default here',
  },
  {
    fields: [
      ...['backend method', 'endpoint output_encoding', 'endpoint timeout', 'agent encoding', 'root auth/api-keys *'],
      ...[
        'root idle_timeout',
        'root read_header_timeout',
        'root listen_ip',
        '* max_payload',
        '*otlp[].port',
        '*prometheus[].listen_ip',
      ],
      '*param_definition[].required',
    ],
    kind: 'default',
    because: 'the default depends on another setting, and is in the description of the field',
  },
  {
    fields: ['*.truncation', '*.candidate_count', '*mistral.v1.variables.n', '*.safe_prompt'],
    kind: 'default',
    because: 'an absent field is not sent, and the vendor applies its default',
  },
  {
    fields: ['*capacity'],
    kind: 'default',
    because: '0 is one second of the rate, which is what KrakenD uses when the field is absent',
  },
  {
    fields: ['*query_definition[].required'],
    kind: 'default',
    because: 'a query parameter is optional unless the document says otherwise, as in OpenAPI',
  },
  {
    fields: [
      ...['* cleanup_threads', '*.cleanup_threads', '*num_shards', 'root redis *', 'root governance/processors *'],
      ...['root expect_continue_timeout', '* hpkp_public_key', '*force_sandboxed_request'],
      ...['root telemetry/opencensus exporters.*'],
    ],
    kind: 'default',
    because: 'the field has no effect here, which check reports if it is set',
  },
  { fields: ['root expect_continue_timeout'], kind: 'values', because: 'other values have no effect and are rejected' },
  {
    fields: ['*cipher_suites'],
    kind: 'default',
    because: 'the suites of TLS 1.2 are also offered when min_version allows it',
  },
  {
    fields: ['root router decompress_gzip'],
    kind: 'default',
    because: 'the field is a switch here, and numbers are accepted',
  },
  { fields: ['endpoint proxy strategy'], kind: 'default', because: 'the default also depends on "sequential"' },
  {
    fields: ['endpoint proxy combiner', '*documentation/openapi schemes[]', 'root telemetry/logging format'],
    kind: 'values',
    because: 'other names do not exist, which KrakenD finds when it starts',
  },
  {
    fields: [
      ...['* max_call_recv_msg_size', '* read_buffer_size', '*producer.max_message_bytes', '*group.fetch_default'],
      ...['*publisher/kafka success_status_code', '*.channel_buffer_size', '*.metadata_retry_max', '*.retry_max'],
    ],
    kind: 'type',
    because: 'a size, a number of attempts or a status is a whole number',
  },
  {
    fields: ['root documentation/postman version'],
    kind: 'pattern',
    because: 'each number of a semantic version may have several digits',
  },
  {
    fields: ['*producer.required_acks'],
    kind: 'pattern',
    because: 'brokers reject other numbers of acknowledgements',
  },
  {
    fields: ['*ai/semantic-cache redis_connection'],
    kind: 'default',
    because: 'responses without a named connection are stored in memory, so that Redis is not required',
  },
  {
    fields: ['root ai/classifiers classifiers[].notdiamond.*tradeoff'],
    kind: 'default',
    because: 'the two fields exclude each other: if both are absent, the tradeoff is the cost, as in KrakenD',
  },
  {
    fields: ['backend backend/amqp/producer routing_key', 'root telemetry/logstash enabled'],
    kind: 'default',
    because: 'the field is required, so its default never applies',
  },
  {
    fields: [
      'root telemetry/opentelemetry skip_paths',
      '*cluster.rack_id',
      ...['root telemetry/logging backend.*', 'backend telemetry/logging backend.*'],
      '*security/bot-detector *',
      '*security/cors max_age',
    ],
    kind: 'default',
    because: 'an absent field has the same effect as the published default',
  },
  {
    fields: ['*documentation/openapi servers[].url'],
    kind: 'type',
    because: 'a URL is a text in OpenAPI; its variables are objects next to it',
  },
  {
    fields: ['root governance/processors quotas[].connection_name'],
    kind: 'required',
    because: 'a quota without a connection is counted in memory',
  },
  {
    fields: ['root ai/providers providers[].credentials'],
    kind: 'required',
    because:
      'a provider without credentials would fail at its first request; a server without authentication accepts any',
  },
  {
    fields: ['endpoint security/cors allow_origins'],
    kind: 'default',
    because: 'every site is allowed only if the configuration says so',
  },
  {
    fields: ['endpoint security/cors expose_headers'],
    kind: 'default',
    because: 'browsers expose the two headers in any case',
  },
  {
    fields: ['backend auth/gcp audience'],
    kind: 'required',
    because: 'each published alternative requires the field',
  },
  {
    fields: [
      ...['backend plugin/http-client name', 'endpoint auth/validator alg', 'backend backend/graphql type'],
      ...['*static_attributes[].key', '*static_attributes[].value', '* keys[].key', 'root grpc *'],
    ],
    kind: 'required',
    because: 'without the field the component does nothing, or fails when it starts',
  },
];

/** Published files that are not part of a configuration, with the reason why they are not compared. */
export const apart: ReadonlyMap<string, string> = new Map([
  ['krakend.json', 'contains the other files, for tools that read a single file'],
  ['flexible_config.json', 'settings of the template command; its 13 fields have the same names and defaults here'],
  ['e2e.json', 'tests of another tool; `sluice test` has its own format'],
]);

/** Finds the explanation of a difference. */
export function explanationOf(difference: Difference, known: readonly Explanation[]): Explanation | undefined {
  return known.find(
    ({ fields, kind, published }) =>
      kind === difference.kind &&
      (published === undefined || published === difference.published) &&
      fields.some((field) => patternOf(field).test(nameOf(difference))),
  );
}

/** Name of the differing field, with the object that has it. */
export function nameOf({ at, field }: Difference): string {
  return field === '' ? at : `${at} ${field}`;
}

function patternOf(field: string): RegExp {
  const parts = field.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}
