import { type AuditRule, type AuditSubject, type Data, isObject, joinPointer } from '#contract';
import { has, lacking, setting, using } from './find.ts';

/** Components that collect metrics as soon as they are configured. InfluxDB is not one of them: it stores the data of telemetry/metrics. */
const metricsComponents = ['telemetry/metrics', 'telemetry/newrelic'];
/** Deprecated metrics systems, which chapter 7 of the audit reports. */
const oldMetricsComponents = ['telemetry/instana', 'telemetry/ganalytics', 'telemetry/opencensus'];

const tracingComponents = ['telemetry/newrelic', 'telemetry/instana', 'telemetry/opencensus'];

/** Audit rules of chapter 4: observability. */
export const telemetryRules: readonly AuditRule[] = [
  {
    id: '4.1.1',
    severity: 'MEDIUM',
    message: 'Add telemetry/opentelemetry or another source of metrics.',
    recommends: ['telemetry/opentelemetry'],
    find: lacking(
      '/extra_config',
      (summary) => metricsSystems(summary).length > 0 || has(oldMetricsComponents, ['service'])(summary),
    ),
  },
  {
    id: '4.1.2',
    severity: 'MEDIUM',
    message: 'Name the service, so that logs and metrics of several gateways can be distinguished.',
    find: setting('/name', ({ config }) => config.name === ''),
  },
  {
    id: '4.1.3',
    severity: 'HIGH',
    message: 'Keep only one metrics system: each additional one costs memory, and time on every request.',
    find: (summary) => {
      const systems = metricsSystems(summary);
      return systems.length > 1 ? systems : [];
    },
  },
  {
    id: '4.2.1',
    severity: 'MEDIUM',
    message: 'Add an OTLP exporter with traces to telemetry/opentelemetry.',
    recommends: ['telemetry/opentelemetry'],
    find: lacking(
      '/extra_config',
      (summary) =>
        has(tracingComponents, ['service'])(summary) || exporters(summary, ['otlp'], 'disable_traces').length > 0,
    ),
  },
  {
    id: '4.3.1',
    severity: 'MEDIUM',
    message: 'Add telemetry/logging to set the level and the destination of the log.',
    recommends: ['telemetry/logging'],
    find: lacking('/extra_config', has(['telemetry/logging', 'telemetry/gelf', 'telemetry/logstash'], ['service'])),
  },
];

function metricsSystems(summary: AuditSubject): string[] {
  return [
    ...using(metricsComponents, ['service'])(summary),
    ...exporters(summary, ['otlp', 'prometheus'], 'disable_metrics'),
  ];
}

/** Returns pointers to the OpenTelemetry exporters whose off switch is not set. */
function exporters({ components }: AuditSubject, families: readonly string[], offSwitch: string): string[] {
  return components
    .filter(({ namespace, level }) => namespace === 'telemetry/opentelemetry' && level === 'service')
    .flatMap(({ settings: { exporters: declared }, pointer }) =>
      families.flatMap((family) => {
        const list: Data = isObject(declared) ? (declared[family] ?? []) : [];
        if (!Array.isArray(list)) return [];
        return list.flatMap((exporter, at) =>
          isObject(exporter) && exporter[offSwitch] === true ? [] : [joinPointer(pointer, 'exporters', family, at)],
        );
      }),
    );
}
