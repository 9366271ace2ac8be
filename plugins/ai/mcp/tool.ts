import {
  type Call,
  type ClientRequest,
  type DataObject,
  isHeaderName,
  isHopByHop,
  type McpCaller,
  type McpTool,
  mirroredParameters,
  type Site,
  type Tracer,
} from '#contract';
import { type CheckData, compileCheck } from './json-schema.ts';
import { failedResult, type ResultRules, resultOf } from './result.ts';
import type { McpConfig, ToolConfig } from './schema.ts';
import { compileRequest, ownHeaders } from './workflow-request.ts';

/** What comes with a message. */
export interface McpContext {
  readonly client: ClientRequest;
  readonly call: Call;
  /** Calls of tools of this client, which it may give up. */
  readonly running: Running;
}

/** Keeps what can be given up. */
export interface Running {
  /** @returns ends the entry. */
  enter(caller: McpCaller, part: Call): () => void;
}

/** What a tool is compiled with. */
export interface ToolSurroundings {
  readonly site: Site<McpConfig>;
  /** Relative to the configuration of the component. */
  readonly pointer: string;
  readonly tracer: Tracer | null;
}

const annotationNames = {
  read_only_hint: 'readOnlyHint',
  destructive_hint: 'destructiveHint',
  idempotent_hint: 'idempotentHint',
  open_world_hint: 'openWorldHint',
} as const;

/** @throws ConfigError MCP_SCHEMA, MCP_PARAM_HEADER, MCP_HEADER or MCP_WORKFLOW. */
export function compileTool(config: ToolConfig, around: ToolSurroundings): McpTool<McpContext> {
  const { site, pointer, tracer } = around;
  const { name, input_schema: input, output_schema: output, workflow } = config;
  checkHeaderNames(config, around);
  checkOutput(config, around);
  const step = site.pipe(`${pointer}/workflow`);
  const violations = input ? objectSchema(site, input, `${pointer}/input_schema`) : null;
  const rules: ResultRules = {
    type: config.type,
    encoding: site.encoding(workflow.output_encoding)!,
    output: output ? objectSchema(site, output, `${pointer}/output_schema`) : null,
    tells: config.return_error_msg,
    log: site.log.at(`[TOOL: ${name}]`),
  };
  const toWorkflow = compileRequest(config.input_headers, workflow.backend, `Sluice Version ${site.use('version')}`);
  const run = async (args: DataObject, client: ClientRequest, call: Call): Promise<DataObject> => {
    try {
      return await resultOf(await step(toWorkflow(args, client), call), rules);
    } catch (error) {
      rules.log.error((error as Error).message);
      return failedResult(rules.tells ? (error as Error).message : 'tool execution failed');
    }
  };
  return {
    description: describe(config),
    mirrored: mirrored(input, around),
    async call(args, { client, call, running }, caller) {
      const wrong = violations?.(args) ?? null;
      if (wrong !== null) return failedResult(`the arguments do not keep to the schema:\n${wrong}`);
      const part = call.fork();
      const leave = running.enter(caller, part);
      const span = tracer?.start(part, `tools/call ${name}`, {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': name,
      });
      try {
        const result = await run(args, client, span?.call ?? part);
        if (result['isError'] === true) span?.fail();
        return result;
      } finally {
        span?.end();
        leave();
        part.finish();
      }
    },
  };
}

function describe({ name, title, description, annotations, input_schema, output_schema }: ToolConfig): DataObject {
  const hints = Object.entries(annotationNames).map(([key, published]) => [
    published,
    annotations?.[key as keyof typeof annotationNames] ?? false,
  ]);
  return {
    name,
    title,
    description,
    inputSchema: { type: 'object', ...input_schema },
    ...(output_schema && { outputSchema: { type: 'object', ...output_schema } }),
    ...(annotations && { annotations: Object.fromEntries(hints) as DataObject }),
  };
}

/** Arguments and results are objects, whatever is written of them. */
function objectSchema(site: Site<McpConfig>, schema: Readonly<DataObject>, pointer: string): CheckData {
  const { type = 'object' } = schema;
  if (type !== 'object') {
    throw site.fault('MCP_SCHEMA', `${pointer}/type`, 'arguments and results of tools are objects', {
      hint: '"type": "object"',
    });
  }
  return compileCheck(site, { ...schema, type }, pointer);
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
      throw site.fault('MCP_HEADER', at, `"${name}" is not the name of a header`, { hint: 'name each of them' });
    }
    if (isHopByHop(name.toLowerCase()) || ownHeaders.has(name.toLowerCase())) {
      throw site.fault('MCP_HEADER', at, `${name} belongs to the request of the client, or is the gateway's own`);
    }
  }
}

function checkOutput({ type, output_schema, workflow }: ToolConfig, { site, pointer }: ToolSurroundings): void {
  const isRaw = site.encoding(workflow.output_encoding)?.raw === true;
  if (type !== 'text' && !isRaw) {
    throw site.fault('MCP_WORKFLOW', `${pointer}/workflow/output_encoding`, `${type} is made of bytes`, {
      hint: '"output_encoding": "no-op"',
    });
  }
  if (isRaw && output_schema) {
    throw site.fault('MCP_SCHEMA', `${pointer}/output_schema`, 'what is handed on undecoded has no schema', {
      hint: 'another output_encoding of the workflow',
    });
  }
}
