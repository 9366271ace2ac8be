import type { TemplateLimits } from './budget.ts';
import type { Functions } from './function.ts';
import type { NumberStyle } from './run.ts';

export interface TemplateOptions {
  /** Of the template, for messages. Default `template`. */
  readonly name?: string;
  /** Other templates, by the names that `{{ template }}` calls them by. */
  readonly templates?: Readonly<Record<string, string>>;
  /** Functions beside those of the language and of Sprig; those of the same name are replaced. */
  readonly functions?: Functions;
  readonly limits?: Partial<TemplateLimits>;
  /**
   * How numbers print: `json` as the document has them, `go` as Go prints a `float64`: `1e+06`.
   * Default `json`.
   */
  readonly numbers?: NumberStyle;
  /**
   * What a missing key of a map is. `invalid`: it prints `<no value>`, and so does what is below it; `zero`: it prints
   * `<no value>`, and what is below it is an error; `error`. Default `invalid`.
   */
  readonly missingKey?: 'invalid' | 'zero' | 'error';
}
