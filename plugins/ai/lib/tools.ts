import { type Data, type DataObject, isObject } from '#contract';

/** A function that a model may ask its client to call. */
export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  /** JSON Schema of the arguments. */
  readonly parameters: DataObject;
  readonly strict: boolean;
}

/** Whether the model calls functions, or the one that it must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** A tool call requested by a model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** The result of a tool call. */
export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** The arguments as data, for vendors that take an object; empty where the text is not that of one. */
export function argumentsOf(call: ToolCall): DataObject {
  try {
    const data: Data = JSON.parse(call.arguments);
    return isObject(data) ? data : {};
  } catch {
    return {};
  }
}
