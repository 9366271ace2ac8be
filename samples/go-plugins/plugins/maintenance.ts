import type { PluginModule } from 'sluice/plugin';

/** Rejects all requests below a path while it is closed. */
export const plugin = {
  name: 'maintenance',
  apiVersion: 1,
  configSchema: { type: 'object', required: ['path'], properties: { path: { type: 'string' } } },
  httpServer: (config) => (request, next) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith(config.maintenance.path)) return next();
    return Response.json({ message: 'closed' }, { status: 503, headers: { 'Retry-After': '60' } });
  },
} satisfies PluginModule<{ path: string }, 'maintenance'>;
