import { hostname } from 'node:os';
import { atService, definePlugin, type LogFormat } from '#contract';
import { compileLayout } from './logging/go-time.ts';
import { applicationLog } from './logging/log-writers.ts';

const schema = {
  type: 'object',
  title: 'Logstash',
  description: 'Writes the application log in the JSON format of Logstash.',
  required: ['enabled'],
  examples: [{ enabled: true }, { enabled: false }],
  properties: {
    enabled: {
      type: 'boolean',
      description: 'Enables the Logstash format, which replaces the format set in telemetry/logging.',
    },
  },
} as const;

/** Writes the application log as JSON for Logstash, replacing the format of `telemetry/logging`. */
export const plugin = definePlugin({
  name: 'telemetry/logstash',
  description: 'Writes the application log as JSON for Logstash.',
  requires: ['telemetry/logging'],
  leaves: ['requests', 'data'],
  takes: [applicationLog],
  places: [
    atService(schema, (site) => {
      if (!site.config.enabled) return {};
      const prefix = site.take(applicationLog)?.prefix ?? '';
      return { logging: { format: logstashFormat(prefix === '' ? 'SLUICE' : prefix) } };
    }),
  ],
});

/** Format with one JSON object per line. */
function logstashFormat(module: string): LogFormat {
  const stamp = compileLayout('2006-01-02T15:04:05.000000-07:00');
  const host = hostname();
  return ({ time, level, message }) =>
    `${JSON.stringify({ '@version': 1, '@timestamp': stamp(time), module, host, level, message })}\n`;
}
