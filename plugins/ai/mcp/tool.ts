import {
  type Call,
  type ClientRequest,
  type DataObject,
  isHeaderName,
  isHopByHop,
  type McpTool,
  mirroredParameters,
} from '#contract';
import { type Callee, calleeOf, type Place } from './callee.ts';
import { ArgumentError } from './endpoint-request.ts';
import { type McpContext, type Observers, observed } from './observed.ts';
import { failedResult, type ResultRules, resultOf } from './result.ts';
import type { ToolConfig } from './schema.ts';
import { ownHeaders } from './workflow-request.ts';

/** Context in which a tool is compiled. */
export interface ToolSurroundings extends Place, Observers {}

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
  const { site } = around;
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
    call: observed(name, around, {
      label: name,
      refusal: (args) => {
        if (Object.keys(args).length > MAX_ARGUMENTS) return `more than ${MAX_ARGUMENTS} arguments`;
        const wrong = input?.violations(args) ?? null;
        return wrong === null ? null : `the arguments do not match the schema:\n${wrong}`;
      },
      run,
    }),
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
