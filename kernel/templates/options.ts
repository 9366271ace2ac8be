import type { TemplateLimits } from './budget.ts';
import type { Functions } from './function.ts';
import type { NumberStyle } from './run.ts';

export interface TemplateOptions {
  /** Name of the template in messages. Default: `template`. */
  readonly name?: string;
  /** Other templates, by the name under which `{{ template }}` calls them. */
  readonly templates?: Readonly<Record<string, string>>;
  /** Additional functions; they override those of the language and of Sprig with the same name. */
  readonly functions?: Functions;
  readonly limits?: Partial<TemplateLimits>;
  /** Number format: `json` as in the document, `go` as Go prints a `float64`: `1e+06`. Default: `json`. */
  readonly numbers?: NumberStyle;
  /**
   * Handling of a missing map key. `invalid` prints `<no value>`, also for fields of the missing value; `zero` prints
   * `<no value>`, and a field of the missing value is an error; `error` is always an error. Default: `invalid`.
   */
  readonly missingKey?: 'invalid' | 'zero' | 'error';
}
