import { ConfigError } from '#contract';
import type { Origin } from './origin.ts';
import { PlacedError } from './position.ts';

export interface ReportOptions {
  /** What to write instead. */
  readonly hint?: string | undefined;
  /** JSON pointers of other places that have a part in the mistake. */
  readonly related?: readonly string[];
}

/** Notes one mistake. */
export type Complain = (code: string, pointer: string, message: string, options?: ReportOptions) => void;

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
    (code, pointer, message, { hint, related } = {}) => {
      const at = origin ? origin.pointer(pointer) : pointer;
      const options = hint === undefined ? {} : { hint };
      list.push(
        related
          ? new PlacedError(code, at, message, { ...options, related: origin ? related.map(origin.pointer) : related })
          : new ConfigError(code, at, message, options),
      );
    };
  return { errors, warnings, error: into(errors), warn: into(warnings) };
}
