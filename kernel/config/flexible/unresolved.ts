import { ConfigError, type Data, type DataObject, isObject } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import { variableFor } from '../compatibility/environment.ts';
import { hinted } from '../issues/report.ts';
import { hasFreeKeys, type KnownPlugins } from '../normalize/known-plugins.ts';
import { isReadText } from '../secrets/read-secrets.ts';
import { fillingHint, includeHint } from '../syntax/template.ts';

const VARIABLE = '\\$\\{[A-Za-z_]\\w*(?::?[-=?+][^{}]*)?\\}|\\$[A-Z][A-Z\\d_]+\\b';
const anywhere = new RegExp(`${VARIABLE}|\\{\\{-?\\s*(?:[.$]|[a-z]\\w*\\s)[^{}]*\\}\\}`);
/**
 * In components, only a string that consists of a variable alone counts as unresolved: other texts can be scripts,
 * patterns and templates.
 */
const alone = new RegExp(`^(?:${VARIABLE}|\\{\\{-?\\s*env\\s[^{}]*\\}\\})$`);

/** Keys that other tools replace with another file or another part of the document. */
const directive = /^[@$_#](?:ref|include|import|extends)$/i;
/** In components, a reference with these keys may belong to an embedded document. */
const elsewhere = /^#|:\/\//;

const comment = /^[@$_#]/;

type Path = (string | number)[];

/**
 * Finds variables, templates and includes that should have been resolved before the document was read. Free-form data
 * is not searched.
 *
 * Codes: warnings CONFIG_VARIABLE, CONFIG_INCLUDE.
 */
export function unresolvedIn(document: DataObject, known: KnownPlugins): ConfigError[] {
  const results: ConfigError[] = [];
  const path: Path = [];
  const visitText = (text: string, inComponent: boolean): void => {
    if ((!text.includes('$') && !text.includes('{{')) || isReadText(text)) return;
    const match = (inComponent ? alone : anywhere).exec(text);
    if (match) results.push(unfilled(match[0], joinPointer('', ...path), match.index));
  };
  const visit = (value: Data, inComponent: boolean): void => {
    if (typeof value === 'string') visitText(value, inComponent);
    else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        path.push(index);
        visit(item, inComponent);
        path.pop();
      });
    } else if (isObject(value)) visitFields(value, inComponent);
  };
  const visitFields = (object: DataObject, inComponent: boolean): void => {
    const isComponents = path.at(-1) === 'extra_config';
    for (const key in object) {
      const inner = object[key]!;
      if (comment.test(key)) {
        const isMeant = directive.test(key) && typeof inner === 'string' && !(inComponent && elsewhere.test(inner));
        if (isMeant) results.push(included(key, inner, joinPointer('', ...path, key)));
        continue;
      }
      if (key === 'mapping' || (isComponents && hasFreeKeys(key, known))) continue;
      path.push(key);
      visit(inner, inComponent || isComponents);
      path.pop();
    }
  };
  visitFields(document, false);
  return results;
}

function unfilled(text: string, pointer: string, start: number): ConfigError {
  const variable = variableFor(pointer);
  return new ConfigError('CONFIG_VARIABLE', pointer, `${text} was not replaced: it is used literally`, {
    hint: variable ? `write a value here; the environment variable ${variable} replaces it` : fillingHint(text),
    within: { start, end: start + text.length },
  });
}

function included(key: string, reference: string, pointer: string): ConfigError {
  const message = `'${key}' is read as a comment: no file is included`;
  return new ConfigError('CONFIG_INCLUDE', pointer, message, { hint: includeHint(key, reference) });
}

/** Adds the hint about an unresolved variable to other errors at the same place, which the variable has caused. */
export function withUnresolved(errors: ConfigError[], unresolved: readonly ConfigError[]): ConfigError[] {
  if (unresolved.length === 0) return errors;
  const hints = new Map(unresolved.map(({ pointer, hint }) => [pointer, hint]));
  return errors.map((error) => {
    const hint = hints.get(error.pointer);
    return hint === undefined ? error : hinted(error, hint);
  });
}
