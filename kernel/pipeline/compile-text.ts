import type { ConfigError, ConfigErrorOptions, Pattern, Patterns, Template } from '#contract';
import { PatternError, TemplateError } from '../contract/internal.ts';
import { compileTemplate } from '../templates/index.ts';

/** Makes the error of the place that a text stands at. */
type Fault = (code: string, message: string, options: ConfigErrorOptions) => ConfigError;

/** A regular expression of a configuration. @throws what `fault` makes. */
export function compilePattern(patterns: Patterns, source: string, fault: Fault): Pattern {
  try {
    return patterns.compile(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { message, hint, within } = error;
    throw fault('PATTERN_INVALID', message, { hint, within, cause: error });
  }
}

/** A template of a configuration. @param name for messages. @throws what `fault` makes. */
export function compileText(text: string, name: string | undefined, fault: Fault): Template {
  try {
    return compileTemplate(text, name === undefined ? {} : { name });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw fault('TEMPLATE_INVALID', error.message, { cause: error });
  }
}
