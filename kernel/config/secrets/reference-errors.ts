import { ConfigError } from '#contract';
import { showValue, typeName } from '../schema/problem.ts';
import type { Filled } from './references.ts';
import { type TextType, typedPlaceholder } from './typed-text.ts';

/** A value that is one reference and nothing else. */
const WHOLE = /^\$\{[^{}]*\}$/;

/**
 * Selects the errors of a document in which references to secrets are filled in. Values whose secret is missing are
 * checked only for their type. Errors about references show the reference instead of its value and suggest how to write
 * it; they have no fix, because a fix would contain the secret.
 */
export function errorsWithReferences(
  errors: readonly ConfigError[],
  { written, unfilled, replacements }: Filled,
): ConfigError[] {
  return errors.flatMap((error) => {
    const { code, pointer, message, within, related, cause } = error;
    const text = written.get(pointer);
    if (text === undefined) return [error];
    const typed = typedPlaceholder(text);
    const isWrongType = code === 'SCHEMA_TYPE';
    if (unfilled.has(pointer) && (typed || !isWrongType)) return [];
    const hint = isWrongType ? hintFor(text, typed?.type, message) : error.hint;
    const value = replacements.get(pointer);
    const shown =
      value === undefined ? message : message.replace(`found ${showValue(value)}`, `found the value of ${text}`);
    return [new ConfigError(code, pointer, shown, { hint, related, cause, ...(value === undefined && { within }) })];
  });
}

function hintFor(text: string, type: TextType | undefined, message: string): string | undefined {
  if (type !== undefined) return `Remove "!${type}", because the field does not accept the converted value.`;
  const needed = WHOLE.test(text) ? typeNeeded(message) : undefined;
  return needed && `Write "${text}!${needed}" to convert the value.`;
}

/** The type to write after a reference in a field that rejects texts. */
function typeNeeded(message: string): TextType | undefined {
  if (message.includes(typeName('boolean'))) return 'bool';
  return message.includes(typeName('integer')) || message.includes(typeName('number')) ? 'int' : undefined;
}
