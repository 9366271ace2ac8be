import { definePort, type McpServer, type McpTool, meterOf, type ReplyForm, type Site, tracerOf } from '#contract';
import { audienceRules } from './audiences.ts';
import type { McpContext, Observers } from './observed.ts';
import { compileUpstreams } from './remote/compile.ts';
import type { McpConfig, ServerConfig } from './schema.ts';
import { linkSessions, type SessionLink } from './session-link.ts';
import { compileTool } from './tool.ts';

/** A server declared at the root and published by endpoints. */
export interface DeclaredServer {
  readonly server: Omit<McpServer<McpContext>, 'cacheScope'>;
  /** Response format for clients that accept both. */
  readonly preferred: ReplyForm;
  /** Sessions of the server; null if it is stateless. */
  readonly sessions: SessionLink | null;
  /** Source of the audiences that decide the tools of a request, if any. */
  readonly audienceSource: ServerConfig['tool_audience_source'];
  /** Whether the transport of 2024-11-05 is also available. */
  readonly older: boolean;
  /** Whether tools of upstream servers depend on the caller. */
  readonly isPersonal: boolean;
}

export type DeclaredServers = ReadonlyMap<string, DeclaredServer>;

/** Passes the servers declared at the root to the endpoints. */
export const declaredServers = definePort<DeclaredServers>('servers of the Model Context Protocol');

/** Tool names that all clients display. Some clients do not show names with other characters. */
const toolName = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * @throws ConfigError MCP_DUPLICATE, MCP_STATELESS and MCP_AUDIENCE, and those of `compileTool`, `audienceRules` and
 * `compileUpstreams`. Warnings MCP_TOOL_NAME, MCP_UNUSED, MCP_AUDIENCE.
 */
export function declareServers(site: Site<McpConfig>): DeclaredServers {
  const servers = new Map<string, DeclaredServer>();
  for (const [index, config] of site.config.servers.entries()) {
    if (servers.has(config.name)) {
      throw site.fault('MCP_DUPLICATE', `/servers/${index}/name`, `duplicate server name "${config.name}"`);
    }
    servers.set(config.name, declare(site, config, `/servers/${index}`));
  }
  return servers;
}

function declare(site: Site<McpConfig>, config: ServerConfig, pointer: string): DeclaredServer {
  const { name, title, version, instructions, stateless, ping_period: pingMs, sse_transport: older } = config;
  if (stateless && pingMs > 0) {
    site.warn('MCP_UNUSED', `${pointer}/ping_period`, 'ping_period has no effect on a stateless server');
  }
  if (stateless && older) {
    throw site.fault('MCP_STATELESS', `${pointer}/sse_transport`, 'sse_transport cannot be combined with stateless', {
      hint: 'Set "stateless" to false.',
    });
  }
  const observers = observersOf(site);
  const declared = compileTools(site, config, pointer, observers);
  const upstreams = compileUpstreams(site, config.upstreams, declared.keys(), `${pointer}/upstreams`, observers);
  const rules = audienceRules(site, config, pointer);
  const offered = (context: McpContext) => {
    const isOffered = rules(context);
    return [...declared].filter(([name]) => isOffered(name)).map(([, tool]) => tool);
  };
  const sessions = stateless ? null : linkSessions(site, name, pingMs);
  return {
    preferred: config.json_response ? 'json' : 'events',
    sessions,
    audienceSource: config.tool_audience_source,
    older,
    isPersonal: upstreams.some(({ isPersonal }) => isPersonal),
    server: {
      name,
      title,
      version,
      instructions,
      sessions: null,
      tools:
        upstreams.length === 0
          ? offered
          : async (context) => {
              const isOffered = rules(context);
              const open = upstreams.filter(({ prefix }) => isOffered(prefix));
              const remote = await Promise.all(open.map((each) => each.tools(context)));
              return [...offered(context), ...remote.flat()];
            },
      tool(wanted, context) {
        const tool = declared.get(wanted);
        if (tool) return rules(context)(wanted) ? tool : undefined;
        const upstream = upstreams.find(({ prefix }) => wanted.startsWith(prefix));
        return upstream && rules(context)(upstream.prefix) ? upstream.tool(wanted, context) : undefined;
      },
      failed: (error, { call }) => call.log.error(`[MCP] ${error instanceof Error ? error.stack : String(error)}`),
    },
  };
}

function observersOf(site: Site<McpConfig>): Observers {
  const durations = meterOf(site)?.histogram('mcp.server.operation.duration', {
    description: 'Duration of tool calls.',
    unit: 's',
  });
  return { tracer: tracerOf(site), durations: durations ?? null };
}

function compileTools(
  site: Site<McpConfig>,
  { tools: configs }: ServerConfig,
  pointer: string,
  observers: Observers,
): ReadonlyMap<string, McpTool<McpContext>> {
  const tools = new Map<string, McpTool<McpContext>>();
  for (const [index, config] of configs.entries()) {
    const at = `${pointer}/tools/${index}`;
    const { name } = config;
    if (tools.has(name)) {
      throw site.fault('MCP_DUPLICATE', `${at}/name`, `duplicate tool name "${name}"`);
    }
    if (!toolName.test(name)) {
      site.warn('MCP_TOOL_NAME', `${at}/name`, `some clients do not show a tool named "${name}"`, {
        hint: 'Use 1 to 128 of the characters A-Z, a-z, 0-9, _, - and .',
      });
    }
    tools.set(name, compileTool(config, { site, pointer: at, ...observers }));
  }
  return tools;
}
