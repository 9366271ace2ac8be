import { CallError, type Data, type DataObject, isObject } from '#contract';
import type { Tool, ToolCall, ToolChoice, ToolResult } from './tools.ts';

/** A turn of a conversation, consisting of one or more texts. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly texts: readonly string[];
  /** Tool calls requested by the assistant, following its texts. */
  readonly calls: readonly ToolCall[];
  /** Tool results, preceding the user's texts. */
  readonly results: readonly ToolResult[];
}

/** A prompt for a model. */
export interface Prompt {
  /** The text of a prompt that consists of a single text; null if the prompt is a conversation. */
  readonly text: string | null;
  /** Turns of the conversation. Consecutive turns always have different roles. */
  readonly turns: readonly Turn[];
  readonly instructions: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly choice?: ToolChoice | undefined;
}

/** Role of a message. `system` messages contain instructions. */
export type Role = Turn['role'] | 'system';

/** A text, tool call or tool result, with the role of its author. */
export interface Said {
  readonly role: Role;
  readonly text?: string;
  readonly call?: ToolCall;
  readonly result?: ToolResult;
}

const roles: ReadonlyMap<unknown, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['model', 'assistant'],
  ['system', 'system'],
]);

/**
 * Parses a client request. `contents` is a text, or a list of texts and turns `{ role, text }`; turns with the role
 * `system` are appended to `instructions`.
 *
 * @throws CallError LLM_PROMPT, status 400.
 */
export function readPrompt(bytes: Uint8Array): Prompt {
  const body = parse(bytes);
  const contents = isObject(body) && Object.hasOwn(body, 'contents') ? body['contents'] : undefined;
  if (!isObject(body) || contents === undefined || contents === null || contents === '')
    throw refused('contents is required');
  const { instructions } = body;
  if (instructions !== undefined && instructions !== null && typeof instructions !== 'string')
    throw refused('instructions must be a string');
  if (typeof contents === 'string') {
    return {
      text: contents,
      turns: [{ role: 'user', texts: [contents], calls: [], results: [] }],
      instructions: instructions || undefined,
    };
  }
  if (!Array.isArray(contents)) throw refused('contents must be a string or an array of strings and turns');
  return conversation(contents, instructions ? [instructions] : []);
}

function conversation(contents: readonly Data[], instructions: readonly string[]): Prompt {
  const said = contents.map(
    (item, index): Said => (typeof item === 'string' ? { role: 'user', text: item } : turnOf(item, index)),
  );
  const { turns, system } = turnsOf(said);
  if (turns.length === 0) throw refused('contents is required');
  return { text: null, turns, instructions: [...instructions, ...system].join('\n') || undefined };
}

/** Merges consecutive messages of one role into one turn, and separates the system instructions. */
export function turnsOf(said: readonly Said[]): {
  readonly turns: readonly Turn[];
  readonly system: readonly string[];
} {
  const turns: { role: Turn['role']; texts: string[]; calls: ToolCall[]; results: ToolResult[] }[] = [];
  const system: string[] = [];
  for (const { role, text, call, result } of said) {
    if (role === 'system') {
      system.push(text!);
      continue;
    }
    if (turns.at(-1)?.role !== role) turns.push({ role, texts: [], calls: [], results: [] });
    const { texts, calls, results } = turns.at(-1)!;
    if (text !== undefined) texts.push(text);
    if (call) calls.push(call);
    if (result) results.push(result);
  }
  return { turns, system };
}

function turnOf(item: Data, index: number): Said {
  const { role: name, text } = isObject(item) ? item : ({} as DataObject);
  const role = roles.get(name);
  if (role === undefined) throw refused(`contents[${index}] must have a role: user, assistant or system`);
  if (typeof text !== 'string' || text === '') throw refused(`contents[${index}] must have a text`);
  return { role, text };
}

function parse(bytes: Uint8Array): Data {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch {
    return null;
  }
}

function refused(reason: string): CallError {
  return new CallError('LLM_PROMPT', reason, { view: { status: 400, body: reason, always: true } });
}
