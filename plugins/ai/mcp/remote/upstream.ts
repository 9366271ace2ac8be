import {
  type Call,
  type ClientRequest,
  type DataObject,
  getKey,
  type McpTool,
  mirroredHeaders,
  type Site,
  toCallError,
} from '#contract';
import { underOwnCall } from '../../../shared/calls/own-call.ts';
import { serverUrl } from '../../lib/server-url.ts';
import { type McpContext, type Observers, observed } from '../observed.ts';
import { failedResult } from '../result.ts';
import { claimRules } from './claim-rules.ts';
import type { Line } from './conversation.ts';
import { matcherOf } from './name-pattern.ts';
import { RemoteError, StatusError } from './read-answer.ts';
import { type RemoteTool, readTools, type ToolList } from './read-tools.ts';
import { prefixOf, type UpstreamConfig } from './schema.ts';
import { type State, sharedState } from './shared-state.ts';
import { sentHeaders } from './target.ts';
import { type AcceptsCall, toolPolicies } from './tool-policies.ts';
import { type CountCall, toolRates } from './tool-rates.ts';

/** Maximum time for notifying a server that a call was canceled, in milliseconds. */
const FAREWELL_MS = 5000;
/** Maximum time for ending the sessions of a configuration that no longer serves, in milliseconds. */
const PARTING_MS = 1000;
/** Number of sessions that are ended at a time. */
const PARALLEL = 8;
/** Maximum duration of a stream of announcements, in milliseconds. Each reading of the list opens a new one if none is open. */
const LISTENING_MS = 3_600_000;
/** Maximum length of an error message that is passed on to the model. */
const MAX_MESSAGE = 1000;

/** An MCP server whose tools a server of the gateway offers. */
export interface Upstream {
  readonly prefix: string;
  /** Whether the list of tools depends on the caller. */
  readonly isPersonal: boolean;
  /** Lists the tools that the caller can call; none while the server is unavailable. */
  tools(context: McpContext): Promise<readonly McpTool<McpContext>[]>;
  /** Finds a tool that the caller can call. While the server is unavailable, calls return an error. */
  tool(name: string, context: McpContext): Promise<McpTool<McpContext> | undefined>;
}

/** @throws ConfigError MCP_UPSTREAM or MCP_HEADER; warning MCP_INSECURE. @param at relative pointer. */
export function compileUpstream(
  site: Site<unknown>,
  config: UpstreamConfig,
  at: string,
  observers: Observers,
): Upstream {
  const { name, timeout: timeoutMs, forward_headers: forwarded } = config;
  const prefix = prefixOf(config);
  const url = serverUrl(site, config.url, `${at}/url`, {
    invalid: 'MCP_UPSTREAM',
    insecure: 'MCP_INSECURE',
    sent: 'tool calls',
  });
  const headers = sentHeaders(site, config, at);
  const send = site.http({ ofService: true, followsRedirects: false, calls: [{ address: url.href, at: `${at}/url` }] });
  const availability = new Availability(site, name);
  const allows = claimRules(config.require_claims);
  const refusal = refusing(toolPolicies(site, config, at), toolRates(site, config, at));
  const rules = {
    prefix,
    offers: matcherOf(config.tools),
    maxTools: config.max_tools,
    maxBytes: config.max_list_bytes,
  };
  const end = new AbortController();
  // A server that rejects the headers of one caller is available to the others.
  const isOfCaller = (error: unknown): boolean =>
    forwarded.length > 0 && error instanceof StatusError && (error.status === 401 || error.status === 403);

  const background = (work: (call: Call) => Promise<unknown>, limitMs = FAREWELL_MS): void =>
    void underOwnCall(site.log, limitMs, end.signal, work).catch(() => {});
  const version = site.use('version');
  const lineOf = ({ forwarded: own }: State): Line => ({
    ...{ url, send, version, background },
    headers: own.length === 0 ? headers : [...headers, ...own],
  });
  const read = async ({ conversation, list }: State, line: Line): Promise<ToolList | null> => {
    try {
      const current = await underOwnCall(site.log, timeoutMs, end.signal, (call) =>
        readTools((params) => conversation.request(line, 'tools/list', params, call), rules),
      );
      availability.up(current.isCut);
      return current;
    } catch (error) {
      if (end.signal.aborted) list.expire();
      else if (!isOfCaller(error)) availability.down(error as Error);
      return null;
    }
  };
  const shared = sharedState(site, config, headers);
  const { states } = shared;
  shared.holders++;
  const endSessions = (dropped: readonly State[], call: Call) =>
    inParallel(dropped, (state) => state.conversation.end(lineOf(state), call));
  /** The list with which this configuration last opened a stream: a stream that the server ends is opened again with the next list. */
  let listened: ToolList | null = null;
  const listOf = async (state: State, call: Call): Promise<ToolList | null> => {
    const { conversation } = state;
    const line = lineOf(state);
    const list = await state.list.get(call, () => read(state, line));
    const dropped = states.takeDropped();
    if (dropped.length > 0) background((own) => endSessions(dropped, own));
    // If callers have lists of their own, no stream of announcements is opened, because there could be up to 1,000
    // connections.
    if (forwarded.length === 0 && list !== listened && conversation.canListen) {
      listened = list;
      background((own) => conversation.listen(line, own), LISTENING_MS);
    }
    return list;
  };
  site.defer(async () => {
    end.abort();
    if (--shared.holders > 0) return;
    states.clear();
    const parting = (call: Call) => endSessions(states.takeDropped(), call);
    await underOwnCall(site.log, PARTING_MS, new AbortController().signal, parting).catch(() => {});
  });

  const run = async (state: State, { remoteName, mirrored }: RemoteTool, args: DataObject, call: Call) => {
    const part = call.fork(timeoutMs);
    try {
      const params = { name: remoteName, arguments: args };
      const own = mirroredHeaders(mirrored, args);
      return checked(await state.conversation.request(lineOf(state), 'tools/call', params, part, own));
    } catch (error) {
      if (error instanceof RemoteError) return failedResult(error.message.slice(0, MAX_MESSAGE));
      if (part.reason && toCallError(part.reason).code === 'CALL_DEADLINE')
        return failedResult('the tool did not respond in time');
      if (isOfCaller(error)) return failedResult('the server of the tool rejected the credentials of the caller');
      if (part.reason === null) availability.down(error as Error);
      return unavailable();
    } finally {
      part.finish();
    }
  };
  const toolOf = (state: State, tool: RemoteTool): McpTool<McpContext> => ({
    description: tool.description,
    mirrored: tool.mirrored,
    call: observed(tool.description['name'] as string, observers, {
      // Metrics do not contain the tool name: it comes from the upstream server, so the number of label values would be
      // unlimited.
      label: `${prefix}*`,
      refusal: () => null,
      run: async (args, client, call) => {
        const reason = await refusal(tool.remoteName, args, client, call);
        return reason === null ? run(state, tool, args, call) : failedResult(reason);
      },
    }),
  });
  return {
    prefix,
    isPersonal: forwarded.length > 0 || config.require_claims.length > 0,
    async tools({ client, call }) {
      const state = states.of(client);
      const list = await listOf(state, call);
      const visible = [...(list?.tools.values() ?? [])].filter(({ remoteName }) => allows(remoteName, call));
      return visible.map((tool) => toolOf(state, tool));
    },
    async tool(wanted, { client, call }) {
      const state = states.of(client);
      const list = await listOf(state, call);
      if (list === null) return { description: {}, mirrored: [], call: async () => unavailable() };
      const tool = list.tools.get(wanted);
      return tool && allows(tool.remoteName, call) ? toolOf(state, tool) : undefined;
    },
  };
}

/** Runs a function for each state, for several at a time. */
async function inParallel(all: readonly State[], run: (state: State) => Promise<void>): Promise<void> {
  const left = all.values();
  const work = async (): Promise<void> => {
    for (const state of left) await run(state);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/**
 * Returns the reason for which a call is not sent; null for a call that is sent. A call that a policy rejects does not
 * count against a rate limit.
 */
function refusing(accepts: AcceptsCall, count: CountCall) {
  return async (tool: string, args: DataObject, client: ClientRequest, call: Call): Promise<string | null> => {
    if (!accepts(tool, args, call)) return 'the call is not allowed by a policy';
    const waitMs = await count(tool, client);
    return waitMs === 0 ? null : `too many calls of the tool: try again in ${Math.ceil(waitMs / 1000)} s`;
  };
}

function unavailable(): DataObject {
  return failedResult('the server of the tool is unavailable');
}

/** Returns the parts of a result that callers of the gateway receive. */
function checked(result: DataObject): DataObject {
  const [content, structured, isError] = ['content', 'structuredContent', 'isError'].map((key) => getKey(result, key));
  const type = getKey(result, 'resultType') ?? 'complete';
  if (type !== 'complete') return failedResult('the tool requires input that the gateway cannot provide');
  if (!Array.isArray(content)) return failedResult('the server of the tool returned an invalid result');
  return {
    content,
    ...(structured !== undefined && { structuredContent: structured }),
    ...(isError === true && { isError }),
  };
}

/** Logs changes of the availability of a server, each once. */
class Availability {
  readonly #site: Site<unknown>;
  readonly #name: string;
  #isDown = false;
  #isCut = false;

  constructor(site: Site<unknown>, name: string) {
    this.#site = site;
    this.#name = name;
  }

  down(error: Error): void {
    if (this.#isDown) return;
    this.#isDown = true;
    const { message } = toCallError(error);
    this.#site.log.warning(`[MCP] upstream server ${this.#name} is unavailable: ${message}`);
  }

  /** @param isCut whether tools are missing because the list exceeds a limit. */
  up(isCut: boolean): void {
    if (this.#isDown) this.#site.log.info(`[MCP] upstream server ${this.#name} is available again`);
    this.#isDown = false;
    if (isCut && !this.#isCut) {
      this.#site.log.warning(
        `[MCP] the tool list of upstream server ${this.#name} exceeds max_tools or max_list_bytes: further tools are ignored`,
      );
    }
    this.#isCut = isCut;
  }
}
