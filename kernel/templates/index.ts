import type { Template } from '#contract';
import { type Compiled, compileDefinition, execute } from './actions.ts';
import { DEFAULT_LIMITS } from './budget.ts';
import { standardFunctions } from './functions/index.ts';
import type { TemplateOptions } from './options.ts';
import { type Mark, Run } from './run.ts';
import type { Source } from './source.ts';
import { isBlank, parseTemplate } from './syntax/parser.ts';
import type { Value } from './value.ts';

export type { TemplateLimits } from './budget.ts';
export type { TemplateOptions } from './options.ts';
export type { Mark, Read } from './run.ts';
export { positionIn, type Source } from './source.ts';

/** A template whose output can be traced to its sources. */
export interface TraceableTemplate extends Template {
  /** @param marks receives the marks of the output, in order. */
  render(data: unknown, marks?: Mark[]): string;
}

/**
 * Compiles a template. Its definitions override templates of the same name in `options.templates`.
 * @throws TemplateError TEMPLATE_SYNTAX with the position, also for unknown or unsupported functions, and for a wrong
 *   number of arguments.
 */
export function compileTemplate(text: string, options: TemplateOptions = {}): TraceableTemplate {
  const { name = 'template', templates = {}, missingKey = 'invalid', numbers = 'json' } = options;
  const functions = { ...standardFunctions, ...options.functions };
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const set = new Map<string, Compiled>();
  const compile = (source: Source): Compiled => {
    const compiled = parseTemplate(source, (word) => Object.hasOwn(functions, word)).map((definition) => {
      const target = compileDefinition(definition, { source, functions, missingKey }, set);
      if (!set.has(definition.name) || !isBlank(definition)) set.set(definition.name, target);
      return target;
    });
    return compiled[0]!;
  };
  for (const [other, content] of Object.entries(templates)) compile({ name: other, text: content });
  const main = compile({ name, text });
  return {
    render(data, marks) {
      const run = new Run(main.source, limits, numbers, marks ?? null);
      try {
        execute(main, run, data as Value);
      } catch (error) {
        throw run.errorOf(error);
      }
      return run.output;
    },
  };
}
