import type { Infer, Schema } from '#contract';
import { LEVEL_PATTERN } from './checked.ts';

const levels = ['INFO', 'DEBUG', 'WARNING', 'ERROR', 'CRITICAL'] as const;
const level = (description: string) =>
  ({ type: 'string', published: { pattern: LEVEL_PATTERN }, description, examples: levels }) as const;

/**
 * Settings of the log of backend calls. The code sets the defaults, because an empty object could not be detected if
 * the schema did.
 */
export const backendLogSchema = {
  type: 'object',
  title: 'Backend log',
  description: 'Backend log: one line per backend call.',
  minProperties: 1,
  properties: {
    custom_format: {
      type: 'string',
      description:
        'Pattern of backend log lines, including the line break. %{reqHeader.NAME} is a header of the backend request, %{respHeader.NAME} or %{header.NAME} one of its response. Default: %{prefix}%{time} |%{statusCode}| %{latencyMs} | %{method} %{host} %{path}',
      examples: ['%{method} %{host}%{path} %{statusCode} %{latencyMs}\n'],
    },
    log_with_level: level(
      'Writes the line to the application log at this level, so that it can be filtered. Default: the line is written directly to standard output.',
    ),
    no_value: {
      type: 'string',
      description: 'Text printed for variables without a value. Default: a hyphen, which an empty text means as well.',
      examples: ['none'],
    },
    prefix: { type: 'string', description: 'Value of %{prefix}. Default: empty.', examples: ['[users]'] },
  },
} as const satisfies Schema;

/** Namespace at a backend: the settings are either nested in `backend` or at the top level. */
export const backendSchema = {
  title: 'Logging',
  examples: [{ backend: { prefix: '[users]', log_with_level: 'INFO' } }],
  anyOf: [{ type: 'object', required: ['backend'], properties: { backend: backendLogSchema } }, backendLogSchema],
} as const satisfies Schema;

/** Namespace at the service. */
export const serviceSchema = {
  type: 'object',
  title: 'Logging',
  examples: [{ level: 'INFO', prefix: '[SLUICE]', stdout: true, access_log_format: 'json' }],
  required: ['level'],
  properties: {
    level: level(
      'Minimum level: DEBUG, INFO, WARNING, ERROR or CRITICAL, in any letter case. Lines of lower levels are dropped.',
    ),
    prefix: {
      type: 'string',
      description:
        'Prefix of every application log line in the default format. In the format json, the prefix is a separate field.',
      default: '',
      examples: ['[SLUICE]'],
    },
    stdout: { type: 'boolean', description: 'Writes the application log to standard output.', default: false },
    syslog: {
      type: 'boolean',
      description:
        'Writes the application log to the local syslog socket: the first of /dev/log, /var/run/syslog and /var/run/log that accepts connections.',
      default: false,
    },
    syslog_facility: {
      type: 'string',
      enum: ['local0', 'local1', 'local2', 'local3', 'local4', 'local5', 'local6', 'local7'],
      description: 'Syslog facility.',
      default: 'local3',
    },
    format: {
      type: 'string',
      enum: ['default', 'json', 'logstash', 'custom'],
      description:
        'Format of the application log. json writes one object per line: time (RFC 3339 with milliseconds), level, prefix, component (the source, for example "[ENDPOINT: /users]"; empty for the gateway itself) and message.',
      default: 'default',
    },
    custom_format: {
      type: 'string',
      minLength: 1,
      description: 'Pattern of application log lines, for the format custom.',
    },
    access_log_format: {
      type: 'string',
      enum: ['', 'default', 'httpdCommon', 'httpdCombine', 'httpdCombined', 'json', 'custom'],
      description:
        'Format of the access log. If empty, the built-in format is used. The format json writes one object per line: prefix, time, status_code (a number), latency (seconds, for example 0.002s), client_ip, method and path (without query).',
      default: '',
    },
    access_log_custom_format: {
      type: 'string',
      description:
        'Pattern of access log lines, including the line break, for access_log_format custom. %{clientCert.subject}, .issuer, .serial and .fingerprint (SHA-256) describe the client certificate with mutual TLS.',
      default: '',
    },
    access_log_missing_key_marker: {
      type: 'string',
      description: 'Text printed in access log lines for variables without a value. If empty, a hyphen is printed.',
      default: '-',
    },
    backend: backendLogSchema,
  },
} as const satisfies Schema;

export type ServiceLogging = Infer<typeof serviceSchema>;
export type BackendLogging = Infer<typeof backendLogSchema>;
