import type { Call, ClientRequest, DataObject, Histogram, McpCaller, McpTool, Tracer } from '#contract';
import { failedResult } from './result.ts';

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

/** Telemetry of tool calls. */
export interface Observers {
  readonly durations: Histogram | null;
  readonly tracer: Tracer | null;
}

/** The work of a tool, and its name in metrics. */
export interface Work {
  /** Tool name in metrics. */
  readonly label: string;
  /** Returns the reason why arguments are rejected; null for valid ones. */
  refusal(args: DataObject): string | null;
  /** @returns the result of the tool; a failed call returns an error result. */
  run(args: DataObject, client: ClientRequest, call: Call): Promise<DataObject>;
}

/** Runs a tool under a call that its client can cancel, with a span and a measured duration. */
export function observed(
  name: string,
  { tracer, durations }: Observers,
  { label, refusal, run }: Work,
): McpTool<McpContext>['call'] {
  const attributes = { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': label };
  return async (args, { client, call, running }, caller) => {
    const startedAt = performance.now();
    const measured = (result: DataObject): DataObject => {
      const failed = result['isError'] === true && { 'error.type': 'tool_error' };
      durations?.record((performance.now() - startedAt) / 1000, { ...attributes, ...failed });
      return result;
    };
    const refused = refusal(args);
    if (refused !== null) return measured(failedResult(refused));
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
  };
}
