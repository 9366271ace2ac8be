import { type Data, type DataObject, isObject } from '#contract';

/** Maximum length of a text that is compared, in characters: embedders have limits of about this size. */
const MAX_LENGTH = 32 * 1024;

/**
 * The text of the compared content; null if it has none, is too long, or contains images, audio or files, which a text
 * does not describe.
 */
export function textOfContent(content: Data | undefined): string | null {
  const text = typeof content === 'string' ? content : content === undefined ? '' : textOfData(content);
  return text === null || text.trim() === '' || text.length > MAX_LENGTH ? null : text;
}

function textOfData(content: Data): string | null {
  const inside = isObject(content) ? (content['messages'] ?? content['contents']) : content;
  const isChat = Array.isArray(inside) && inside.length > 0 && inside.every(isMessage);
  if (!isChat) return JSON.stringify(content);
  const texts = (inside as readonly DataObject[]).map(textOfMessage);
  if (texts.includes(null)) return null;
  const { system, instructions } = isObject(content) ? content : ({} as DataObject);
  return [system, instructions, ...texts]
    .filter((text) => text !== undefined)
    .map((text) => (typeof text === 'string' ? text : JSON.stringify(text)))
    .join('\n');
}

function isMessage(value: Data): boolean {
  return isObject(value) && typeof value['role'] === 'string';
}

/** Role and text of a message; null if it has other parts. */
function textOfMessage({ role, content, text, ...rest }: DataObject): string | null {
  const written = content ?? text ?? '';
  const parts = Array.isArray(written) ? written.map(textOfPart) : [typeof written === 'string' ? written : null];
  if (parts.includes(null)) return null;
  const others = Object.keys(rest).length > 0 ? JSON.stringify(rest) : '';
  return `${String(role)}: ${parts.join('')}${others}`;
}

function textOfPart(part: Data): string | null {
  if (typeof part === 'string') return part;
  if (!isObject(part)) return null;
  const { type = 'text', text } = part;
  const isText = typeof text === 'string' && typeof type === 'string' && /^(?:text|input_text|output_text)$/.test(type);
  return isText ? text : null;
}
