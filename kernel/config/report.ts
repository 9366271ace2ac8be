import { ConfigError, type ConfigErrorOptions } from '#contract';
import type { Origin } from './origin.ts';

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
