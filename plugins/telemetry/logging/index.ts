import { atBackend, atService, definePlugin } from '#contract';
import { compileBackendLog } from './backend.ts';
import { backendSchema, serviceSchema } from './schema.ts';
import { attachService } from './service.ts';

const name = 'telemetry/logging';

/** Application log, access log and backend log: where they go, from which level, and how their lines look. */
export const plugin = definePlugin({
  name,
  description: 'Chooses level, format and destination of the application, access and backend logs.',
  places: [
    atService(serviceSchema, (site) => attachService(site, name)),
    atBackend(backendSchema, (site) => ({
      transport: compileBackendLog(site, site.config.backend)(site.endpoint.endpoint),
    })),
  ],
});
