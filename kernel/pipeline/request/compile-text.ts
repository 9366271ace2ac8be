import type { ConfigError, ConfigErrorOptions, Pattern, Patterns, Template } from '#contract';
import { PatternError, TemplateError } from '../../contract/internal.ts';
import { compileTemplate } from '../../templates/index.ts';

/** Creates an error at the location of a text. */
type Fault = (code: string, message: string, options: ConfigErrorOptions) => ConfigError;

/** Compiles a regular expression from a configuration. @throws the error that `fault` creates. */
export function compilePattern(patterns: Patterns, source: string, fault: Fault): Pattern {
  try {
    return patterns.compile(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const { message, hint, within } = error;
    throw fault('PATTERN_INVALID', message, { hint, within, cause: error });
  }
}

/** Compiles a template from a configuration. @param name for messages. @throws the error that `fault` creates. */
export function compileText(text: string, name: string | undefined, fault: Fault): Template {
  try {
    return compileTemplate(text, name === undefined ? {} : { name });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw fault('TEMPLATE_INVALID', error.message, { cause: error });
  }
}
