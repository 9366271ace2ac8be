import {
  BackendError,
  type LogLevel,
  type PipeRequest,
  type Reply,
  type Services,
  type Site,
  type Wrap,
} from '#contract';
import { checked, levelOf, withLineBreak } from './checked.ts';
import { compilePattern } from './pattern.ts';
import type { BackendLogging } from './schema.ts';
import { type UpstreamRecord, upstreamVocabulary } from './upstream.ts';

const defaultPattern = '%{prefix}%{time} |%{statusCode}| %{latencyMs} | %{method} %{host} %{path}\n';

/**
 * Compiles a `backend` object found at `/backend` of the site.
 * @returns the wrap for a backend of an endpoint, given that endpoint's pattern.
 * @throws ConfigError LOGGING_PATTERN, LOGGING_LEVEL
 */
export function compileBackendLog(
  site: Site<unknown>,
  config: BackendLogging,
): (endpoint: string) => Wrap<PipeRequest> {
  const { custom_format = defaultPattern, log_with_level, no_value = '', prefix = '' } = config;
  const level = log_with_level === undefined ? undefined : levelOf(site, '/backend/log_with_level', log_with_level);
  const pointer = '/backend/custom_format';
  const pattern = level === undefined ? withLineBreak(site, pointer, custom_format) : custom_format.trimEnd();
  const compile = (endpoint: string) =>
    compilePattern(pattern, upstreamVocabulary(prefix, endpoint), no_value === '' ? '-' : no_value);
  checked(site, pointer, pattern, () => compile(''));
  return (endpoint) => logUpstream(writer(compile(endpoint), level, site.services), site.services);
}

/** Writes one line when the head of the reply is there or the call failed. */
function logUpstream(write: (record: UpstreamRecord) => void, { clock }: Services): Wrap<PipeRequest> {
  return (next) => (request, call) => {
    const { method, origin, target } = request;
    const startedAt = clock.now();
    const tell = (reply: Reply): Reply => {
      if (reply.skipped) return reply;
      const latencyMs = clock.now() - startedAt;
      const status = upstreamStatus(reply);
      write({ endedAt: Date.now(), latencyMs, status, method, origin, target, request, reply, call });
      return reply;
    };
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then(tell) : tell(reply);
  };
}

/** The status the backend really gave; undefined when the call failed before it gave one. */
export function upstreamStatus(reply: Reply): number | undefined {
  if (reply.errors.length === 0) return reply.status;
  for (const error of reply.errors) {
    if (error instanceof BackendError && error.upstreamStatus !== undefined) return error.upstreamStatus;
  }
  return undefined;
}

function writer(
  print: (record: UpstreamRecord) => string,
  level: LogLevel | undefined,
  { log, sinks }: Services,
): (record: UpstreamRecord) => void {
  if (level === undefined) {
    const { stdout } = sinks;
    return (record) => stdout.write(print(record), 'INFO');
  }
  const method = level.toLowerCase() as Lowercase<LogLevel>;
  return (record) => log[method](() => print(record));
}
