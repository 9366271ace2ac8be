import { CallError, type Data, type DataObject, isObject } from '#contract';

/** What somebody has said, in one text or in several. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly texts: readonly string[];
}

/** What a client asks a model. */
export interface Prompt {
  /** The only text of a prompt that is no conversation; null for any other. */
  readonly text: string | null;
  /** Never two of one role after another. */
  readonly turns: readonly Turn[];
  readonly instructions: string | undefined;
}

const roles: ReadonlyMap<unknown, Turn['role'] | 'system'> = new Map([
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
    throw refused('instructions is no text');
  if (typeof contents === 'string') {
    return { text: contents, turns: [{ role: 'user', texts: [contents] }], instructions: instructions || undefined };
  }
  if (!Array.isArray(contents)) throw refused('contents is no text, and no list of texts or turns');
  return conversation(contents, instructions ? [instructions] : []);
}

function conversation(contents: readonly Data[], system: string[]): Prompt {
  const turns: { role: Turn['role']; texts: string[] }[] = [];
  for (const [index, item] of contents.entries()) {
    const [role, text] = typeof item === 'string' ? (['user', item] as const) : turnOf(item, index);
    const last = turns.at(-1);
    if (role === 'system') system.push(text);
    else if (last?.role === role) last.texts.push(text);
    else turns.push({ role, texts: [text] });
  }
  if (turns.length === 0) throw refused('contents is required');
  return { text: null, turns, instructions: system.join('\n') || undefined };
}

function turnOf(item: Data, index: number): readonly [Turn['role'] | 'system', string] {
  const { role: name, text } = isObject(item) ? item : ({} as DataObject);
  const role = roles.get(name);
  if (role === undefined) throw refused(`contents[${index}] has no role: user, assistant or system`);
  if (typeof text !== 'string' || text === '') throw refused(`contents[${index}] has no text`);
  return [role, text];
}

function parse(bytes: Uint8Array): Data {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch {
    return null;
  }
}

function refused(reason: string): CallError {
  return new CallError('LLM_PROMPT', reason, { view: { status: 400 } });
}
