import { CallError, type Data, type DataObject, isObject } from '#contract';
import type { Tool, ToolCall, ToolChoice, ToolResult } from './tools.ts';

/** A turn of a conversation, in one or more texts. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly texts: readonly string[];
  /** Tool calls requested by the assistant, after its texts. */
  readonly calls: readonly ToolCall[];
  /** Results of tool calls, before the user's texts. */
  readonly results: readonly ToolResult[];
}

/** A prompt for a model. */
export interface Prompt {
  /** The only text of a prompt that is no conversation; null for any other. */
  readonly text: string | null;
  /** Never two of one role after another. */
  readonly turns: readonly Turn[];
  readonly instructions: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly choice?: ToolChoice | undefined;
}

/** `system` gives instructions. */
export type Role = Turn['role'] | 'system';

/** A text, a call or a result, and whose it is. */
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
 * Reads a request of a client: `contents` is a text, texts, or turns `{ role, text }`; turns of the system join `instructions`.
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

/** Joins what one role has said in a row to one turn, and takes the instructions of the system out. */
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
