import { ConfigError, type DataObject, isObject, setKey } from '#contract';
import { ConfigErrors } from '../../contract/internal.ts';
import { joinPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import { holdersIn } from '../compatibility/holders.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import { cloneData } from '../normalize/plain-data.ts';
import type { Document } from '../syntax/load.ts';
import { rewriteDocument } from './rewrite-document.ts';

/** A component in the form of version 4. */
interface Renewed {
  readonly pointer: string;
  readonly value: DataObject;
}

/** A document whose components have the form of version 4. */
export interface VersionFour {
  readonly document: Document;
  /** Components that were rewritten. */
  readonly renewed: readonly Renewed[];
  /** Components that were left as they are, with the reason. Code: CONFIG_OLD_FORM. */
  readonly left: readonly ConfigError[];
}

/**
 * Rewrites the components of a document that have another form in version 4 of the format. The layout is kept; comments
 * within a rewritten component are dropped.
 */
export function toVersionFour(document: Document, known: KnownPlugins): VersionFour {
  const { forms, left } = formsOf(document.data as DataObject, known);
  const all = attempt(document, forms);
  if (all) return { document: all, renewed: forms, left };
  const renewed: Renewed[] = [];
  let result = document;
  for (const form of forms) {
    const next = attempt(result, [form]);
    if (next) renewed.push(form);
    else left.push(kept(form.pointer, 'its settings are not written in one place: change it by hand'));
    result = next ?? result;
  }
  return { document: result, renewed, left };
}

function formsOf(data: DataObject, known: KnownPlugins): { forms: Renewed[]; left: ConfigError[] } {
  const [forms, left]: [Renewed[], ConfigError[]] = [[], []];
  for (const { holder, pointer: at } of holdersIn(data)) {
    const components = holder['extra_config'];
    if (!isObject(components)) continue;
    for (const [name, config] of Object.entries(components)) {
      const value = isObject(config) ? known.plugin(name)?.inVersionFour?.(config) : undefined;
      if (value === undefined || value === config) continue;
      const pointer = joinPointer(at, 'extra_config', name);
      if (typeof value === 'string') left.push(kept(pointer, value));
      else forms.push({ pointer, value });
    }
  }
  return { forms, left };
}

/** @returns undefined if the text cannot represent the result. */
function attempt(document: Document, forms: readonly Renewed[]): Document | undefined {
  const data = cloneData(document.data as DataObject);
  for (const { pointer, value } of forms) {
    const steps = parsePointer(pointer);
    setKey(valueAt(data, steps.slice(0, -1)) as DataObject, steps.at(-1)!, value);
  }
  try {
    return rewriteDocument(document, data);
  } catch (error) {
    if (error instanceof ConfigErrors) return undefined;
    throw error;
  }
}

function kept(pointer: string, why: string): ConfigError {
  const name = parsePointer(pointer).at(-1);
  return new ConfigError('CONFIG_OLD_FORM', pointer, `'${name}' keeps the form of version 3, which works here: ${why}`);
}
