import { ConfigError, type ConfigErrorOptions } from '#contract';
import { escapePointer, parsePointer } from '../values/pointer.ts';

/** Notes one mistake. */
export type Complain = (code: string, pointer: string, message: string, options?: ConfigErrorOptions) => void;

/** Collects what is wrong with a configuration. */
export interface Report {
  readonly errors: ConfigError[];
  readonly warnings: ConfigError[];
  readonly error: Complain;
  /** Something the operator should know that does not refuse the configuration. */
  readonly warn: Complain;
}

/** @param origin how places are called in the document, where pointers are by present names. */
export function createReport(origin?: Origin): Report {
  const errors: ConfigError[] = [];
  const warnings: ConfigError[] = [];
  const into =
    (list: ConfigError[]): Complain =>
    (code, pointer, message, options) => {
      const error = new ConfigError(code, pointer, message, options);
      list.push(origin ? error.at(origin.pointer(pointer), error.related.map(origin.pointer)) : error);
    };
  return { errors, warnings, error: into(errors), warn: into(warnings) };
}

/** The same mistake with other words on what to write instead, and nothing that is sure to mend it. */
export function hinted({ code, pointer, message, within, related }: ConfigError, hint: string): ConfigError {
  return new ConfigError(code, pointer, message, { hint, within, related });
}

/** Remembers how keys were called in the document, so that mistakes are reported where the operator wrote them. */
export interface Origin {
  /** @param parent pointer of the object, by new names. @param oldKeys lead from it to where the value was written. */
  renamed(parent: string, newKey: string, ...oldKeys: string[]): void;
  /** @param pointer of a value that is an old name of another, by new names. */
  replaced(pointer: string, value: string): void;
  /** The pointer by the names of the document. */
  pointer(pointer: string): string;
  /** Every key that has a new name now, by its pointer in the document. */
  renames(): { readonly pointer: string; readonly key: string }[];
  /** Every value that is another one now, by its pointer in the document. */
  replacements(): { readonly pointer: string; readonly value: string }[];
}

export function createOrigin(): Origin {
  const oldKeys = new Map<string, string>();
  const values = new Map<string, string>();
  const original = (pointer: string): string => {
    if (oldKeys.size === 0 || pointer === '') return pointer;
    let renewed = '';
    let written = '';
    for (const step of pointer.slice(1).split('/')) {
      renewed += `/${step}`;
      written += `/${oldKeys.get(renewed) ?? step}`;
    }
    return written;
  };
  return {
    renamed(parent, newKey, ...path) {
      oldKeys.set(`${parent}/${escapePointer(newKey)}`, path.map(escapePointer).join('/'));
    },
    replaced(pointer, value) {
      values.set(pointer, value);
    },
    pointer: original,
    renames: () =>
      [...oldKeys.keys()].map((renewed) => ({ pointer: original(renewed), key: parsePointer(renewed).at(-1)! })),
    replacements: () => [...values].map(([pointer, value]) => ({ pointer: original(pointer), value })),
  };
}
