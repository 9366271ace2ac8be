import type { Operations, RunningAdmin, StartAdminOptions } from '#kernel';
import { createApp } from './app.ts';
import { mcpOperation } from './mcp/operation.ts';
import { describeAdmin } from './openapi/admin-api.ts';
import { openOperating } from './operating/operating.ts';
import type { Admin } from './operation.ts';
import { changing } from './operations/changing.ts';
import { check } from './operations/check.ts';
import { putConfig } from './operations/config.ts';
import { diffConfig } from './operations/diff-config.ts';
import { reading } from './operations/reading.ts';
import { AdminPort } from './port.ts';
import { settingsOf } from './port-plan.ts';
import { createTokenSource } from './tokens/token-source.ts';

/** Every operation of its own. */
const own = [...changing, ...reading];

/**
 * Opens the admin port of a gateway and lets it follow the configuration. Where nobody asked for a port, one that is taken
 * is a warning.
 * @throws GatewayError ADMIN_LISTEN when the port that was asked for cannot be had, or would be open to others without TLS.
 */
export async function startAdmin(gateway: Operations, options: StartAdminOptions): Promise<RunningAdmin> {
  const { listen, stop, ...tokenOptions } = options;
  const log = gateway.log.at('[ADMIN]');
  const changes = { check, diff: diffConfig, put: putConfig };
  const operations = [...own, mcpOperation(own, changes, (...asked) => app.run(...asked))];
  const admin: Admin = {
    gateway,
    describe: (origin) => describeAdmin(operations, origin),
    operating: openOperating(gateway),
    get settings() {
      return settingsOf(gateway.serving.admin);
    },
    stop,
  };
  const source = createTokenSource({
    token: undefined,
    tokenFile: undefined,
    ...tokenOptions,
    settings: () => admin.settings,
    log,
  });
  const app = createApp(admin, operations, source.tokens, log);
  const port = new AdminPort({ gateway, listen, respond: app.respond, log, onServing: source.settle });
  try {
    await port.open();
  } catch (error) {
    admin.operating.close();
    throw error;
  }
  const leave = gateway.join(port);
  if (port.address !== null) log.info(`the admin API is at ${port.address}`);
  return {
    get address() {
      return port.address;
    },
    async close() {
      leave();
      admin.operating.close();
      await port.close();
    },
  };
}
