import { type Data, type DataObject, isObject } from '#contract';
import { type Prompt, type Role, type Said, turnsOf } from '../lib/prompt.ts';
import { RequestError } from './failure.ts';

const roles: ReadonlyMap<unknown, Role> = new Map([
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
]);

/** The messages of a chat completion as a prompt. @throws RequestError. */
export function promptOf(messages: Data | undefined): Prompt {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new RequestError('"messages" must be an array of at least one message', {
      param: 'messages',
      code: messages === undefined ? 'missing_required_parameter' : 'invalid_value',
    });
  }
  const { turns, system } = turnsOf(messages.flatMap(saidIn));
  if (turns.length === 0) {
    throw new RequestError('"messages" has no message of a user', { param: 'messages', code: 'invalid_value' });
  }
  const [first] = turns;
  const text = turns.length === 1 && first!.role === 'user' && first!.texts.length === 1 ? first!.texts[0]! : null;
  return { text, turns, instructions: system.join('\n') || undefined };
}

function saidIn(message: Data, index: number): Said[] {
  const at = `messages[${index}]`;
  const { role: name, content } = isObject(message) ? message : ({} as DataObject);
  const role = roles.get(name);
  if (role === undefined) throw invalid(`${at}.role`, 'must be one of: system, developer, user, assistant');
  return textsOf(content, `${at}.content`).map((text) => [role, text]);
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
