import { createHash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type DataObject, definePort, type Port, readPem, type Site } from '#contract';
import { OtlpExporter, type OtlpSettings } from '../lib/otlp/exporter.ts';
import type { Resource, Scope } from '../lib/otlp/resource.ts';
import { authoritiesOf, type OtlpTarget } from '../lib/otlp/target.ts';
import { type OpenTelemetryConfig, type OtlpExporterConfig, REPORTING_SECONDS } from './schema.ts';

/** Headers sent to collectors, by exporter name. */
export type ExporterHeaders = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Credentials of exporters, which are configured in a separate component. */
export const exporterHeaders: Port<ExporterHeaders> = definePort('headers of OpenTelemetry exporters');

/** An exporter of the service and the signals that it takes by default. */
export interface Exporter {
  readonly name: string;
  readonly family: 'otlp' | 'prometheus';
  readonly takesMetrics: boolean;
  readonly takesTraces: boolean;
  /** Interval between pushes of metrics, in seconds. */
  readonly periodSeconds: number;
  /** OTLP exporter; null if metrics are scraped. */
  readonly otlp: OtlpExporter | null;
}

/** Identifies the sender: the service, its version and where it runs. */
export function resourceOf(
  site: Site<unknown>,
  { service_name, service_version, deploy_env }: OpenTelemetryConfig,
): Resource {
  return {
    'service.name': service_name || site.setting('name') || 'Sluice',
    'service.version': service_version || site.use('version'),
    ...(deploy_env !== '' && { 'deployment.environment': deploy_env }),
  };
}

/** Options of exporters beyond their configuration. */
export interface ExporterOptions {
  readonly resource: Resource;
  /** Headers sent to collectors. Default: none. */
  readonly headers: ExporterHeaders | undefined;
  /** Prefix of log lines, as in `[SERVICE: OpenTelemetry]`. */
  readonly label: string;
  /** Logs every push at DEBUG. Default: false. */
  readonly logsPushes?: boolean;
}

/**
 * Opens the configured exporters. OTLP exporters keep their connections and queues while their settings are unchanged.
 * @throws ConfigError OTEL_EXPORTERS, OTEL_EXPORTER_NAME, OTEL_HOST
 */
export function openExporters(
  site: Site<unknown>,
  config: OpenTelemetryConfig,
  { resource, headers, label, logsPushes = false }: ExporterOptions,
): ReadonlyMap<string, Exporter> {
  const { otlp, prometheus } = withLists(config);
  const scope: Scope = { name: 'sluice', version: site.use('version') };
  const exporters = new Map<string, Exporter>();
  const add = (exporter: Exporter, at: string): void => {
    if (exporters.has(exporter.name)) {
      throw site.fault('OTEL_EXPORTER_NAME', `${at}/name`, `duplicate exporter name "${exporter.name}"`);
    }
    exporters.set(exporter.name, exporter);
  };
  for (const [index, each] of otlp.entries()) {
    const at = `/exporters/otlp/${index}`;
    const { name } = each;
    const target = targetOf(site, each, headers?.get(name) ?? {}, at);
    nameCollector(site, target, at);
    const settings: OtlpSettings = { name, target, resource, scope, logsPushes };
    const log = site.use('log').at(label);
    const open = () => new OtlpExporter(settings, log);
    add(
      {
        name,
        family: 'otlp',
        takesMetrics: !each.disable_metrics,
        takesTraces: !each.disable_traces,
        periodSeconds: each.custom_metric_reporting_period || config.metric_reporting_period || REPORTING_SECONDS,
        otlp: site.keep(keyOf(settings), open, (exporter) => exporter.close()),
      },
      at,
    );
  }
  for (const [index, each] of prometheus.entries()) {
    const takesMetrics = !each.disable_metrics;
    const { name } = each;
    add(
      { name, family: 'prometheus', takesMetrics, takesTraces: false, periodSeconds: 0, otlp: null },
      `/exporters/prometheus/${index}`,
    );
  }
  if (exporters.size === 0) {
    throw site.fault('OTEL_EXPORTERS', '/exporters', 'no exporter is configured', {
      hint: 'add one to "otlp" or "prometheus"',
    });
  }
  for (const name of headers?.keys() ?? []) {
    if (exporters.get(name)?.family !== 'otlp') {
      throw site.fault(
        'OTEL_EXPORTER_UNKNOWN',
        '/exporters',
        `headers are configured for "${name}", which is not an OTLP exporter`,
      );
    }
  }
  return exporters;
}

/** Returns the lists of exporters, empty by default. */
export function withLists({ exporters }: OpenTelemetryConfig) {
  return { otlp: exporters.otlp ?? [], prometheus: exporters.prometheus ?? [] };
}

/** The key is hashed, because keys of kept values may be displayed, and headers contain credentials. */
function keyOf(settings: OtlpSettings): DataObject {
  const { host, port, secure, useHttp } = settings.target;
  const hash = createHash('sha256').update(JSON.stringify(settings)).digest('base64');
  return { target: { host, port, secure, useHttp }, hash };
}

const DEFAULT_GRPC_PORT = 4317;
const DEFAULT_HTTP_PORT = 4318;

function targetOf(
  site: Site<unknown>,
  config: OtlpExporterConfig,
  headers: Readonly<Record<string, string>>,
  at: string,
): OtlpTarget {
  const { host, use_http: useHttp, port = useHttp ? DEFAULT_HTTP_PORT : DEFAULT_GRPC_PORT } = config;
  const match = /^(?:(https?):\/\/)?(\[[\da-fA-F:.]+\]|[^\s/:@?#[\]]+)\/?$/.exec(host);
  if (!match) {
    const message = `"${host}" is not a valid collector host`;
    throw site.fault('OTEL_HOST', `${at}/host`, message, {
      hint: 'set a host name or IP address, with https:// for TLS, and the port in "port"',
    });
  }
  const secure = match[1] === 'https';
  return {
    host: match[2]!.replace(/^\[|\]$/g, ''),
    port,
    secure,
    useHttp,
    headers,
    ...trusted(site, secure),
    userAgent: `Sluice Version ${site.use('version')}`,
  };
}

function nameCollector(site: Site<unknown>, target: OtlpTarget, at: string): void {
  const { host, port, secure, useHttp } = target;
  const tls = () => ({
    secureContext: createSecureContext({ ca: authoritiesOf(target) }),
    ...(!useHttp && { ALPNProtocols: ['h2'] }),
  });
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  site.connectsTo({ address, tls: secure ? tls : null }, `${at}/host`);
}

/** Applies `client_tls`, as for backends. */
function trusted(site: Site<unknown>, secure: boolean): Pick<OtlpTarget, 'authorities' | 'distrustsSystem'> {
  const tls = secure ? site.setting('client_tls') : undefined;
  const authorities = (tls?.ca_certs ?? []).map((path) =>
    readPem(site.read, path, '', (_kind, _at, message) => site.fault('OTEL_TLS', '', message)),
  );
  return { authorities, distrustsSystem: tls?.disable_system_ca_pool ?? false };
}
