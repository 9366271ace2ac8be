import { ConfigError, type ConfigErrorOptions } from '#contract';
import { escapePointer, parsePointer } from '../../values/pointer.ts';

/** Reports one error or warning. */
export type Complain = (code: string, pointer: string, message: string, options?: ConfigErrorOptions) => void;

/** Collects the errors and warnings of a configuration. */
export interface Report {
  readonly errors: ConfigError[];
  readonly warnings: ConfigError[];
  readonly error: Complain;
  /** Reports something that the operator should know but that does not reject the configuration. */
  readonly warn: Complain;
}

/** @param origin maps pointers with current names to the document. Default: pointers are used as they are. */
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

/** The same error with another hint and without an automatic fix. */
export function hinted({ code, pointer, message, within, related }: ConfigError, hint: string): ConfigError {
  return new ConfigError(code, pointer, message, { hint, within, related });
}

/** Records the original names of keys, so that errors are reported where the operator wrote them. */
export interface Origin {
  /** @param parent pointer of the object, with current names. @param oldKeys path from it to where the value was written. */
  renamed(parent: string, newKey: string, ...oldKeys: string[]): void;
  /** Records that the document contains an old name in place of `value`. @param pointer of the value, with current names. */
  replaced(pointer: string, value: string): void;
  /** Records that everything at a pointer, with current names, was copied from elsewhere in the document. */
  derive(pointer: string): void;
  /** True for the pointer, with current names, of a value that was copied from elsewhere in the document, or of a part of such a value. */
  isDerived(pointer: string): boolean;
  /** Translates a pointer to the names of the document. */
  pointer(pointer: string): string;
  /** All renamed keys, by pointer in the document. */
  renames(): { readonly pointer: string; readonly key: string }[];
  /** All replaced values, by pointer in the document. */
  replacements(): { readonly pointer: string; readonly value: string }[];
}

export function createOrigin(): Origin {
  const oldKeys = new Map<string, string>();
  const values = new Map<string, string>();
  const copies = new Set<string>();
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
    derive: (pointer) => void copies.add(pointer),
    isDerived: (pointer) => copies.size > 0 && [...copies].some((copy) => `${pointer}/`.startsWith(`${copy}/`)),
    pointer: original,
    renames: () =>
      [...oldKeys.keys()].map((renewed) => ({ pointer: original(renewed), key: parsePointer(renewed).at(-1)! })),
    replacements: () => [...values].map(([pointer, value]) => ({ pointer: original(pointer), value })),
  };
}
