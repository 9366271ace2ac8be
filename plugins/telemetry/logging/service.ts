import {
  type AccessRecord,
  type AtBackend,
  type AtService,
  after,
  type BackendSite,
  type LogFormat,
  type LogOutput,
  offer,
  type PipeRequest,
  type Site,
  type Wrap,
} from '#contract';
import { accessVocabulary, namedPattern, noteUpstream } from './access.ts';
import { customFormat, defaultFormat, jsonFormat, logstashFormat } from './application.ts';
import { compileBackendLog } from './backend.ts';
import { checked, levelOf, withLineBreak } from './checked.ts';
import { datagramSocket } from './datagram-socket.ts';
import { applicationLog, logWriters, type Report } from './log-writers.ts';
import { compilePattern, variablesOf } from './pattern.ts';
import type { ServiceLogging } from './schema.ts';
import { openSyslog, socketPaths, syslogFormat } from './syslog.ts';

/** Sets up the logs of the whole service. @param namespace key in the configuration of backends that have a log of their own. */
export function attachService(site: Site<ServiceLogging>, namespace: string): AtService {
  const { config } = site;
  const level = levelOf(site, '/level', config.level);
  const format = applicationFormat(site);
  warnOfUnused(site);
  const access = accessLog(site);
  const eachBackend = backendLogs(site, namespace);
  return {
    logging: { level, outputs: outputs(site, format), ...(access && { access }) },
    offers: [offer(applicationLog, { prefix: config.prefix })],
    ...(eachBackend && { eachBackend }),
  };
}

/** Warns about settings that another setting makes ineffective. */
function warnOfUnused({ config, warn }: Site<ServiceLogging>): void {
  if (config.custom_format !== undefined && config.format !== 'custom') {
    warn('LOGGING_UNUSED', '/custom_format', 'custom_format has no effect without "format": "custom"');
  }
  if (config.access_log_custom_format !== '' && config.access_log_format !== 'custom') {
    const message = 'access_log_custom_format has no effect without "access_log_format": "custom"';
    warn('LOGGING_UNUSED', '/access_log_custom_format', message);
  }
}

function applicationFormat(site: Site<ServiceLogging>): LogFormat {
  const { format, custom_format, prefix } = site.config;
  const colour = site.use('sinks').stdout.terminal;
  if (format === 'default') return defaultFormat(prefix, colour);
  if (format === 'logstash') return logstashFormat();
  if (format === 'json') return jsonFormat(prefix);
  if (custom_format === undefined) {
    throw site.fault('LOGGING_PATTERN', '/format', 'format "custom" needs a custom_format');
  }
  return checked(site, '/custom_format', custom_format, (pattern) => customFormat(pattern, colour));
}

function outputs(site: Site<ServiceLogging>, format: LogFormat): LogOutput[] {
  const { stdout, syslog, prefix, syslog_facility } = site.config;
  const report = reporter(site);
  const others = site.takeAll(logWriters);
  for (const writer of others) writer.reportTo(report);
  if (!stdout && !syslog && others.length === 0) {
    site.warn('LOGGING_NOWHERE', '', 'the application log is not written: neither stdout nor syslog is enabled');
  }
  return [
    ...(stdout ? [{ sink: site.use('sinks').stdout, format }] : []),
    ...(syslog
      ? [{ sink: syslogSink(site, report), format: syslogFormat(prefix, syslog_facility), fixed: true as const }]
      : []),
  ];
}

/** Reports unreachable destinations: in the log on standard output if there is one, else on standard error. */
function reporter(site: Site<ServiceLogging>): Report {
  if (!site.config.stdout) {
    const { stderr } = site.use('sinks');
    return (level, text) => stderr.write(`[SERVICE: Logging] ${text}\n`, level);
  }
  const log = site.use('log').at('[SERVICE: Logging]');
  return (level, text) => (level === 'ERROR' ? log.error(text) : log.info(text));
}

/**
 * The connection survives reloads, regardless of other configuration changes.
 * @throws ConfigError LOGGING_SYSLOG if the local daemon accepts only datagrams.
 */
function syslogSink(site: Site<ServiceLogging>, report: Report): LogOutput['sink'] {
  const datagrams = datagramSocket(socketPaths);
  if (datagrams) {
    throw site.fault('LOGGING_SYSLOG', '/syslog', `${datagrams} takes datagrams only, which Node.js cannot send`, {
      hint: 'use "stdout" and let the service manager forward it, or let the daemon listen on a stream socket, /var/run/syslog',
    });
  }
  const sinks = site.use('sinks');
  const open = () => {
    const events = { report };
    const connection = openSyslog({
      lost: (reason) => events.report('ERROR', `syslog cannot be reached, next attempt in 30s: ${reason}`),
      restored: () => events.report('INFO', 'syslog can be reached again'),
    });
    return { connection, sink: sinks.open(connection), events };
  };
  const { sink, events } = site.keep({ syslog: true }, open, (kept) => {
    kept.sink.close();
    kept.connection.close();
  });
  events.report = report;
  return sink;
}

/** Returns undefined for the built-in access line. */
function accessLog(site: Site<ServiceLogging>): ((record: AccessRecord) => void) | undefined {
  const pattern = accessPattern(site);
  if (pattern === undefined) return undefined;
  const { prefix, access_log_missing_key_marker: marker } = site.config;
  const print = checked(site, '/access_log_custom_format', pattern, (text) =>
    compilePattern(text, accessVocabulary(prefix), marker === '' ? '-' : marker),
  );
  const { stdout } = site.use('sinks');
  return (record) => stdout.write(print(record), 'INFO');
}

function accessPattern(site: Site<ServiceLogging>): string | undefined {
  const { access_log_format: format, access_log_custom_format: custom } = site.config;
  if (format !== 'custom') {
    return namedPattern(format, site.setting('router').request_id !== '');
  }
  if (custom === '') {
    throw site.fault('LOGGING_PATTERN', '/access_log_format', 'format "custom" requires an access_log_custom_format');
  }
  return withLineBreak(site, '/access_log_custom_format', custom);
}

/** Logs the backends without a log of their own, and records the statuses that the access log needs. */
function backendLogs(
  site: Site<ServiceLogging>,
  namespace: string,
): ((backend: BackendSite<unknown>) => AtBackend) | undefined {
  const { backend, access_log_custom_format: pattern } = site.config;
  const logFor = backend && compileBackendLog(site, backend, '/backend');
  const noted = site.config.access_log_format === 'custom' && variablesOf(pattern).includes('backendStatus');
  if (!logFor && !noted) return undefined;
  return ({ endpoint, backend: { extra_config } }) => {
    const own = Object.hasOwn(extra_config, namespace);
    const log = logFor && !own ? logFor(endpoint.endpoint) : {};
    return noted ? { ...log, transport: log.transport ? both(log.transport, noteStatus) : noteStatus } : log;
  };
}

const noteStatus: Wrap<PipeRequest> = after((reply, _request, call) => {
  if (!reply.skipped) noteUpstream(call, reply.upstreamStatus);
});

function both(outer: Wrap<PipeRequest>, inner: Wrap<PipeRequest>): Wrap<PipeRequest> {
  return (next) => outer(inner(next));
}
