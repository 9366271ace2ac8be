import type { PluginModule } from 'sluice/plugin';

/** Adds an X-Served-By header to the response, and returns a fallback response if the backends fail. */
export const plugin = {
  name: 'stamp',
  apiVersion: 1,
  middleware: (config, host) => async (_context, request, next) => {
    try {
      const response = await next(request);
      response.headers['X-Served-By'] = [config.name];
      return response;
    } catch (error) {
      host.logger.warning(`${request.path} failed: ${(error as Error).message}`);
      return { statusCode: 200, data: { stale: true }, isComplete: false };
    }
  },
} satisfies PluginModule<{ name: string }>;
