import { type Data, type DataObject, getPath, isObject } from '#contract';
import type { Prompt } from '../lib/prompt.ts';
import type { Tool, ToolChoice } from '../lib/tools.ts';
import { RequestError } from './failure.ts';

const choices: ReadonlySet<Data> = new Set(['auto', 'none', 'required']);

/**
 * Reads the tools of a request and its tool choice. Returns an empty object if the request has no tools.
 * @throws RequestError.
 */
export function toolsOf(tools: Data | undefined, choice: Data | undefined): Pick<Prompt, 'tools' | 'choice'> {
  if (tools === undefined || (Array.isArray(tools) && tools.length === 0)) return {};
  if (!Array.isArray(tools)) throw invalid('tools', 'must be an array');
  return { tools: tools.map(toolOf), ...(choice !== undefined && { choice: choiceOf(choice) }) };
}

function toolOf(tool: Data, index: number): Tool {
  const called = isObject(tool) && tool['type'] === 'function' ? tool['function'] : undefined;
  const { name, description, parameters, strict } = isObject(called) ? called : ({} as DataObject);
  if (typeof name !== 'string' || name === '') {
    throw invalid(`tools[${index}]`, 'must have the type "function" and a function.name');
  }
  return {
    name,
    description: typeof description === 'string' ? description : undefined,
    parameters: isObject(parameters) ? parameters : { type: 'object', properties: {} },
    strict: strict === true,
  };
}

function choiceOf(choice: Data): ToolChoice {
  if (choices.has(choice)) return choice as ToolChoice;
  const name = isObject(choice) ? getPath(choice, ['function', 'name']) : undefined;
  if (typeof name === 'string') return { name };
  throw invalid('tool_choice', 'must be "none", "auto", "required" or name a function');
}

function invalid(param: string, rule: string): RequestError {
  return new RequestError(`"${param}" ${rule}`, { param, code: 'invalid_value' });
}
