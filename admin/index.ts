import type { IncomingMessage, ServerResponse } from 'node:http';
import { FirstUse } from '#contract';
import { type Operations, type RunningAdmin, runAs, type StartAdminOptions } from '#kernel';
import { openPages } from './dashboard/pages.ts';
import { openOperating } from './operating/operating.ts';
import { AdminPort } from './port.ts';
import { settingsOf } from './port-plan.ts';
import { createTokenSource } from './tokens/token-source.ts';

/**
 * Opens the admin port of a gateway and makes it follow the configuration. Unless a port was requested, a port already
 * in use is only a warning.
 * @throws GatewayError ADMIN_LISTEN when the requested port cannot be opened, or would be exposed to other hosts
 * without TLS.
 */
export async function startAdmin(gateway: Operations, options: StartAdminOptions): Promise<RunningAdmin> {
  const { listen, stop, dashboard, ...tokenOptions } = options;
  const log = gateway.log.at('[ADMIN]');
  const means = {
    gateway,
    operating: runAs('admin', 'the admin API', () => openOperating(gateway)),
    get settings() {
      return settingsOf(gateway.serving.admin);
    },
    stop,
  };
  const source = createTokenSource({
    token: undefined,
    tokenFile: undefined,
    ...tokenOptions,
    settings: () => means.settings,
    log,
  });
  // The API is loaded on the first request, so that it does not delay the start of the gateway.
  const app = new FirstUse(async () =>
    (await import('./api.ts')).createApi(means, source.tokens, openPages(dashboard), log),
  );
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    app
      .get()
      .then((loaded) => loaded.respond(request, response))
      .catch((error: Error) => {
        log.error(`the admin API cannot be loaded: ${error.message}`);
        response.writeHead(500).end();
      });
  };
  const port = new AdminPort({ gateway, listen, respond, log, onServing: source.settle });
  try {
    await port.open();
  } catch (error) {
    means.operating.close();
    throw error;
  }
  const leave = gateway.join(port);
  if (port.address !== null) log.info(`the admin API is available at ${port.address}`);
  return {
    get address() {
      return port.address;
    },
    async close() {
      leave();
      means.operating.close();
      await port.close();
    },
  };
}
