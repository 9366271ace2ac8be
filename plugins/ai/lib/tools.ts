import { type Data, type DataObject, isObject } from '#contract';

/** A function that the model may ask the client to call. */
export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  /** JSON Schema of the arguments. */
  readonly parameters: DataObject;
  readonly strict: boolean;
}

/** Tool choice: whether the model may or must call functions, or the name of the function that it must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** A tool call requested by a model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** Arguments as JSON text. */
  readonly arguments: string;
}

/** Result of a tool call. */
export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

/** Parses the arguments, for vendors that take an object. Returns an empty object if the text is not a JSON object. */
export function argumentsOf(call: ToolCall): DataObject {
  try {
    const data: Data = JSON.parse(call.arguments);
    return isObject(data) ? data : {};
  } catch {
    return {};
  }
}
