import {
  type Call,
  type ClientRequest,
  type DataObject,
  type Histogram,
  isHeaderName,
  isHopByHop,
  type McpCaller,
  type McpTool,
  mirroredParameters,
  type Tracer,
} from '#contract';
import { type Callee, calleeOf, type Place } from './callee.ts';
import { ArgumentError } from './endpoint-request.ts';
import { failedResult, type ResultRules, resultOf } from './result.ts';
import type { ToolConfig } from './schema.ts';
import { ownHeaders } from './workflow-request.ts';

/** Context of a message. */
export interface McpContext {
  readonly client: ClientRequest;
  readonly call: Call;
  /** Tool calls that the client can cancel. */
  readonly running: Running;
}

/** Registry of calls that can be canceled. */
export interface Running {
  /** @returns a function that removes the entry. */
  enter(caller: McpCaller, part: Call): () => void;
}

/** Context in which a tool is compiled. */
export interface ToolSurroundings extends Place {
  readonly durations: Histogram | null;
  readonly tracer: Tracer | null;
}

/** Maximum number of arguments per call, not counting nested ones. Each becomes a parameter. */
const MAX_ARGUMENTS = 1000;

const annotationNames = {
  read_only_hint: 'readOnlyHint',
  destructive_hint: 'destructiveHint',
  idempotent_hint: 'idempotentHint',
  open_world_hint: 'openWorldHint',
} as const;

/** @throws ConfigError MCP_SCHEMA, MCP_PARAM_HEADER, MCP_HEADER, MCP_WORKFLOW or MCP_ENDPOINT. */
export function compileTool(config: ToolConfig, around: ToolSurroundings): McpTool<McpContext> {
  const { site, tracer, durations } = around;
  const { name } = config;
  checkHeaderNames(config, around);
  const callee = calleeOf(config, around);
  const { input, output, encoding } = callee;
  const rules: ResultRules = {
    type: config.type,
    tool: name,
    encoding,
    output: output?.violations ?? null,
    showsErrors: config.return_error_msg,
    log: site.log.at(`[TOOL: ${name}]`),
  };
  const attributes = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': name };
  const run = async (args: DataObject, client: ClientRequest, call: Call): Promise<DataObject> => {
    try {
      return await resultOf(await callee.call(args, client, call), rules);
    } catch (error) {
      if (error instanceof ArgumentError) return failedResult(error.message);
      rules.log.error((error as Error).message);
      return failedResult(rules.showsErrors ? (error as Error).message : 'tool execution failed');
    }
  };
  return {
    description: describe(config, callee),
    mirrored: mirrored(input?.schema, around),
    async call(args, { client, call, running }, caller) {
      const startedAt = performance.now();
      const measured = (result: DataObject): DataObject => {
        const failed = result['isError'] === true && { 'error.type': 'tool_error' };
        durations?.record((performance.now() - startedAt) / 1000, { ...attributes, ...failed });
        return result;
      };
      if (Object.keys(args).length > MAX_ARGUMENTS) {
        return measured(failedResult(`more than ${MAX_ARGUMENTS} arguments`));
      }
      const wrong = input?.violations(args) ?? null;
      if (wrong !== null) return measured(failedResult(`the arguments do not match the schema:\n${wrong}`));
      const part = call.fork();
      const leave = running.enter(caller, part);
      const span = tracer?.start(part, `tools/call ${name}`, attributes);
      try {
        const result = await run(args, client, span?.call ?? part);
        if (result['isError'] === true) span?.fail();
        return measured(result);
      } finally {
        span?.end();
        leave();
        part.finish();
      }
    },
  };
}

function describe({ name, title, description, annotations }: ToolConfig, { input, output }: Callee): DataObject {
  const hints = Object.entries(annotationNames).map(([key, published]) => [
    published,
    annotations?.[key as keyof typeof annotationNames] ?? false,
  ]);
  return {
    name,
    title,
    description,
    inputSchema: input?.schema ?? { type: 'object' },
    ...(output && { outputSchema: output.schema }),
    ...(annotations && { annotations: Object.fromEntries(hints) as DataObject }),
  };
}

function mirrored(
  input: Readonly<DataObject> | undefined,
  { site, pointer }: ToolSurroundings,
): McpTool<McpContext>['mirrored'] {
  try {
    return mirroredParameters(input ?? {});
  } catch (error) {
    throw site.fault('MCP_PARAM_HEADER', `${pointer}/input_schema`, (error as Error).message);
  }
}

function checkHeaderNames({ input_headers: names }: ToolConfig, { site, pointer }: ToolSurroundings): void {
  for (const [index, name] of names.entries()) {
    const at = `${pointer}/input_headers/${index}`;
    if (!isHeaderName(name) || name === '*') {
      throw site.fault('MCP_HEADER', at, `"${name}" is not the name of a header`, {
        hint: 'List each header by name.',
      });
    }
    if (isHopByHop(name.toLowerCase()) || ownHeaders.has(name.toLowerCase())) {
      throw site.fault('MCP_HEADER', at, `${name} cannot be forwarded: the gateway sets it`);
    }
  }
}
