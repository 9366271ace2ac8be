import type { Log } from '#contract';
import { type App, createApp } from './app.ts';
import type { Pages } from './dashboard/pages.ts';
import { mcpOperation } from './mcp/operation.ts';
import type { RunOperation } from './mcp/run-operation.ts';
import { describeAdmin } from './openapi/admin-api.ts';
import type { Admin, Operation } from './operation.ts';
import { changing } from './operations/changing.ts';
import { check } from './operations/check.ts';
import { putConfig } from './operations/config.ts';
import { diffConfig } from './operations/diff-config.ts';
import { reading } from './operations/reading.ts';
import { createSessions } from './tokens/sessions.ts';
import type { Tokens } from './tokens/tokens.ts';

/** All operations except the MCP operation, which is built on them. */
const own = [...changing, ...reading];

/** Every operation of the admin port. @param run runs the operations that MCP tools call. */
export function adminOperations(run: RunOperation): readonly Operation[] {
  return [...own, mcpOperation(own, { check, diff: diffConfig, put: putConfig }, run)];
}

/** The admin API of one gateway. */
export function createApi(means: Omit<Admin, 'describe' | 'sessions'>, tokens: Tokens, pages: Pages, log: Log): App {
  const operations = adminOperations((...parameters) => app.run(...parameters));
  const admin: Admin = {
    gateway: means.gateway,
    describe: (origin) => describeAdmin(operations, origin),
    operating: means.operating,
    sessions: createSessions(tokens, () => performance.now()),
    get settings() {
      return means.settings;
    },
    stop: means.stop,
  };
  const app = createApp(admin, operations, pages, log);
  return app;
}
