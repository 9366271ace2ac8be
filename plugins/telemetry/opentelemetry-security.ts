// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of a configuration
import { atService, definePlugin, HEADER_NAME_PATTERN, offer } from '#contract';
import { exporterHeaders } from './opentelemetry/exporters.ts';

const schema = {
  type: 'object',
  title: 'Credentials of OpenTelemetry exporters',
  description: 'Headers sent to the collectors of telemetry/opentelemetry.',
  required: ['otlp'],
  examples: [{ otlp: [{ name: 'collector', headers: { Authorization: '${COLLECTOR_TOKEN}' } }] }],
  properties: {
    otlp: {
      type: 'array',
      minItems: 1,
      description: 'OTLP exporters and the headers to add to their requests.',
      items: {
        type: 'object',
        required: ['name', 'headers'],
        properties: {
          name: { type: 'string', minLength: 1, description: 'Name of an OTLP exporter.' },
          headers: {
            type: 'object',
            values: { type: 'string', secret: true },
            minProperties: 1,
            published: { propertyNames: { pattern: HEADER_NAME_PATTERN } },
            description: 'Headers sent with every request to the collector, for example credentials.',
          },
        },
      },
    },
  },
} as const;

const headerName = new RegExp(HEADER_NAME_PATTERN);

/** Credentials of the exporters of `telemetry/opentelemetry`. */
export const plugin = definePlugin({
  name: 'telemetry/opentelemetry-security',
  description: 'Adds headers with credentials to requests to OpenTelemetry collectors.',
  leaves: ['requests', 'data'],
  independent: true,
  offers: [exporterHeaders],
  places: [
    atService(schema, ({ config, fault }) => {
      const headers = new Map<string, Readonly<Record<string, string>>>();
      for (const [at, { name, headers: given }] of config.otlp.entries()) {
        if (headers.has(name)) throw fault('OTEL_EXPORTER_NAME', `/otlp/${at}/name`, `"${name}" is repeated`);
        for (const [header, value] of Object.entries(given)) {
          if (headerName.test(header) && /^[\t\x20-\x7e]*$/.test(value)) continue;
          throw fault(
            'OTEL_HEADER',
            `/otlp/${at}/headers`,
            `"${header}" is not a valid header name, or its value cannot be sent`,
          );
        }
        headers.set(name, given);
      }
      return { offers: [offer(exporterHeaders, headers)] };
    }),
  ],
});
