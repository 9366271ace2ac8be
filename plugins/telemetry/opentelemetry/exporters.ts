import { createHash } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type DataObject, definePort, type Port, readPem, type Site } from '#contract';
import { OtlpExporter, type OtlpSettings } from '../../services/otlp/exporter.ts';
import type { Resource, Scope } from '../../services/otlp/resource.ts';
import { authoritiesOf, type OtlpTarget } from '../../services/otlp/target.ts';
import { type OpenTelemetryConfig, type OtlpExporterConfig, REPORTING_SECONDS } from './schema.ts';

/** Headers that are sent to collectors, by the name of the exporter. */
export type ExporterHeaders = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Credentials of exporters, which stand in a component of their own. */
export const exporterHeaders: Port<ExporterHeaders> = definePort('headers of OpenTelemetry exporters');

/** An exporter of the service, and what goes to it where an endpoint names none. */
export interface Exporter {
  readonly name: string;
  readonly family: 'otlp' | 'prometheus';
  readonly takesMetrics: boolean;
  readonly takesTraces: boolean;
  /** Pause between pushes of metrics, in seconds. */
  readonly periodSeconds: number;
  /** What sends; null for one that is scraped. */
  readonly otlp: OtlpExporter | null;
}

/** What tells who sends: the service, its version and where it runs. */
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

/** What exporters are opened with, besides what the configuration says of them. */
export interface ExporterOptions {
  readonly resource: Resource;
  /** Sent to collectors. Default: nothing. */
  readonly headers: ExporterHeaders | undefined;
  /** Stands before what they log, as in `[SERVICE: OpenTelemetry]`. */
  readonly label: string;
  /** Logs every push at DEBUG. Default: false. */
  readonly logsPushes?: boolean;
}

/**
 * The exporters that a configuration names. Those of OTLP keep their connections and what waits for as long as nothing of
 * them changes.
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
      throw site.fault('OTEL_EXPORTER_NAME', `${at}/name`, `another exporter is named "${exporter.name}"`);
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

/** The lists of exporters, empty where there is none. */
export function withLists({ exporters }: OpenTelemetryConfig) {
  return { otlp: exporters.otlp ?? [], prometheus: exporters.prometheus ?? [] };
}

/** Keys of kept values may be shown, and headers hold credentials. */
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
      hint: 'a host name or IP address, with https:// for TLS; set the port in "port"',
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

/** As `client_tls` says for backends. */
function trusted(site: Site<unknown>, secure: boolean): Pick<OtlpTarget, 'authorities' | 'distrustsSystem'> {
  const tls = secure ? site.setting('client_tls') : undefined;
  const authorities = (tls?.ca_certs ?? []).map((path) =>
    readPem(site.read, path, '', (_kind, _at, message) => site.fault('OTEL_TLS', '', message)),
  );
  return { authorities, distrustsSystem: tls?.disable_system_ca_pool ?? false };
}
