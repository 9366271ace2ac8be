import {
  type AtBackend,
  after,
  type Clock,
  type LogLevel,
  maskTarget,
  type PipeRequest,
  type Reply,
  type Site,
  type Wrap,
} from '#contract';
import { checked, levelOf, withLineBreak } from './checked.ts';
import { compilePattern, variablesOf } from './pattern.ts';
import type { BackendLogging } from './schema.ts';
import { type UpstreamRecord, upstreamVocabulary } from './upstream.ts';

const defaultPattern = '%{prefix}%{time} |%{statusCode}| %{latencyMs} | %{method} %{host} %{path}\n';

/**
 * Compiles the settings of a backend log.
 * @param at pointer to the settings, relative to the site.
 * @returns a function that takes the endpoint's pattern and returns the logger of a backend.
 * @throws ConfigError LOGGING_PATTERN, LOGGING_LEVEL
 */
export function compileBackendLog(
  site: Site<unknown>,
  config: BackendLogging,
  at: string,
): (endpoint: string) => AtBackend {
  const { custom_format = defaultPattern, log_with_level, no_value = '', prefix = '' } = config;
  const level = log_with_level === undefined ? undefined : levelOf(site, `${at}/log_with_level`, log_with_level);
  const pointer = `${at}/custom_format`;
  const pattern = level === undefined ? withLineBreak(site, pointer, custom_format) : custom_format.trimEnd();
  const compile = (endpoint: string) =>
    compilePattern(pattern, upstreamVocabulary(prefix, endpoint), no_value === '' ? '-' : no_value);
  checked(site, pointer, pattern, () => compile(''));
  const log = variablesOf(pattern).some((name) => name.startsWith('resp.')) ? logAnswers : logHeads;
  return (endpoint) => log(writer(compile(endpoint), level, site), site.use('clock'));
}

type Write = (record: UpstreamRecord) => void;

/** Writes one line when the response headers have arrived or the call has failed. */
function logHeads(write: Write, clock: Clock): AtBackend {
  return { transport: watchUpstream(write, clock) };
}

/** Writes one line when the body has been decoded, or when it is known that the body will not be decoded. */
function logAnswers(write: Write, clock: Clock): AtBackend {
  const heads = new WeakMap<PipeRequest, UpstreamRecord>();
  return {
    transport: watchUpstream((head) => heads.set(head.request, head), clock),
    backend: after(({ data, errors }, request) => {
      const head = heads.get(request);
      if (!head) return;
      heads.delete(request);
      write({ ...head, data, errors });
    }),
    readsData: 'optional',
  };
}

function watchUpstream(report: Write, clock: Clock): Wrap<PipeRequest> {
  return (next) => (request, call) => {
    const { method, origin } = request;
    const target = maskTarget(request.target);
    const startedAt = clock.now();
    const arrived = (reply: Reply): Reply => {
      if (reply.skipped) return reply;
      const latencyMs = clock.now() - startedAt;
      const { upstreamStatus: status, headers, errors } = reply;
      const endedAt = Date.now();
      report({ endedAt, latencyMs, status, method, origin, target, request, headers, errors, data: null, call });
      return reply;
    };
    const reply = next(request, call);
    return reply instanceof Promise ? reply.then(arrived) : arrived(reply);
  };
}

function writer(print: (record: UpstreamRecord) => string, level: LogLevel | undefined, site: Site<unknown>): Write {
  if (level === undefined) {
    const { stdout } = site.use('sinks');
    return (record) => stdout.write(print(record), 'INFO');
  }
  const log = site.use('log');
  const method = level.toLowerCase() as Lowercase<LogLevel>;
  return (record) => log[method](() => print(record));
}
