import { type Data, type DataObject, isObject } from '#contract';
import { type Prompt, type Role, type Said, turnsOf } from '../lib/prompt.ts';
import type { ToolCall, ToolResult } from '../lib/tools.ts';
import { RequestError } from './failure.ts';

const roles: ReadonlyMap<unknown, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

/** Converts the messages of a chat completion to a prompt. @throws RequestError. */
export function promptOf(messages: Data | undefined): Prompt {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new RequestError('"messages" must be an array of at least one message', {
      param: 'messages',
      code: messages === undefined ? 'missing_required_parameter' : 'invalid_value',
    });
  }
  const names = new Map<string, string>();
  const { turns, system } = turnsOf(messages.flatMap((message, index) => saidIn(message, index, names)));
  if (turns.length === 0) {
    throw new RequestError('"messages" must contain a message with the role "user"', {
      param: 'messages',
      code: 'invalid_value',
    });
  }
  const [first] = turns;
  const text =
    turns.length === 1 && first!.role === 'user' && first!.texts.length === 1 && first!.results.length === 0
      ? first!.texts[0]!
      : null;
  return { text, turns, instructions: system.join('\n') || undefined };
}

/** Converts one message. @param names function names of earlier tool calls, by call ID. */
function saidIn(message: Data, index: number, names: Map<string, string>): Said[] {
  const at = `messages[${index}]`;
  const { role: name, content } = isObject(message) ? message : ({} as DataObject);
  if (name === 'tool') return [{ role: 'user', result: resultOf(message as DataObject, at, names) }];
  const calls = name === 'assistant' ? callsOf(message as DataObject, at) : [];
  for (const call of calls) names.set(call.id, call.name);
  if (calls.length > 0) {
    const texts = content === undefined || content === null ? [] : textsOf(content, `${at}.content`);
    return [
      ...texts.map((text): Said => ({ role: 'assistant', text })),
      ...calls.map((call): Said => ({ role: 'assistant', call })),
    ];
  }
  const role = roles.get(name);
  if (role === undefined) throw invalid(`${at}.role`, 'must be one of: system, developer, user, assistant, tool');
  return textsOf(content, `${at}.content`).map((text) => ({ role, text }));
}

function callsOf(message: DataObject, at: string): ToolCall[] {
  const calls = message['tool_calls'] ?? [];
  if (!Array.isArray(calls)) throw invalid(`${at}.tool_calls`, 'must be an array');
  return calls.map((call, index) => {
    const { id, function: called } = isObject(call) ? call : ({} as DataObject);
    const { name, arguments: text } = isObject(called) ? called : ({} as DataObject);
    if (typeof id === 'string' && typeof name === 'string' && typeof text === 'string') {
      return { id, name, arguments: text };
    }
    throw invalid(
      `${at}.tool_calls[${index}]`,
      'must be a tool call with an id and a function that has a name and arguments',
    );
  });
}

function resultOf(message: DataObject, at: string, names: ReadonlyMap<string, string>): ToolResult {
  const { tool_call_id: id, content } = message;
  const name = typeof id === 'string' ? names.get(id) : undefined;
  if (name === undefined) throw invalid(`${at}.tool_call_id`, 'must be the id of a tool call in an earlier message');
  return { id: id as string, name, text: textsOf(content, `${at}.content`).join('') };
}

function textsOf(content: Data | undefined, at: string): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  if (!Array.isArray(content)) throw invalid(at, 'must be a string or an array of content parts');
  return content.map((part, index) => {
    const text = isObject(part) && part['type'] === 'text' ? part['text'] : undefined;
    if (typeof text !== 'string') throw invalid(`${at}[${index}]`, 'must be a part of type "text"');
    return text;
  });
}

function invalid(param: string, rule: string): RequestError {
  return new RequestError(`"${param}" ${rule}`, { param, code: 'invalid_value' });
}
