import type { PluginModule } from 'sluice/plugin';

/** Adds the tenant to requests, and removes private fields from responses. */
export const plugin = {
  name: 'tenant',
  apiVersion: 1,
  configSchema: {
    type: 'object',
    properties: { tenant: { type: 'string', default: 'public' }, hidden: { type: 'array', default: [] } },
  },
  requestModifier: (config) => (request) => {
    if (request.params['id'] === '0') throw Object.assign(new Error('no such user'), { statusCode: 404 });
    request.headers['X-Tenant'] = [config.tenant.tenant];
  },
  responseModifier: (config) => (response) => {
    for (const field of config.tenant.hidden) delete response.data?.[field];
  },
} satisfies PluginModule<{ tenant: string; hidden: string[] }, 'tenant'>;
