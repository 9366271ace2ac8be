import { atBackend, atService, definePlugin } from '#contract';
import { compileBackendLog } from './backend.ts';
import { applicationLog, logWriters } from './log-writers.ts';
import { backendSchema, serviceSchema } from './schema.ts';
import { attachService } from './service.ts';

const name = 'telemetry/logging';

/** Configures the application, access and backend logs: outputs, levels and formats. */
export const plugin = definePlugin({
  name,
  description: 'Configures level, format and destination of the application, access and backend logs.',
  leaves: ['requests', 'data'],
  offers: [applicationLog],
  takes: [logWriters],
  independent: true,
  places: [
    atService(serviceSchema, (site) => attachService(site, name)),
    atBackend(backendSchema, (site) => {
      const { config, endpoint } = site;
      const compiled =
        'backend' in config ? compileBackendLog(site, config.backend, '/backend') : compileBackendLog(site, config, '');
      return compiled(endpoint.endpoint);
    }),
  ],
});
