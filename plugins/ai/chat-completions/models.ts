import { definePort, type PipeRequest, type Site, type Step } from '#contract';
import type { ModelsConfig } from './schema.ts';

/** A model that clients can use. */
export interface Model {
  /** Vendor of the model's first backend, such as `anthropic`. */
  readonly vendor: string;
  readonly call: Step<PipeRequest>;
}

/** Models by the name that clients send. */
export type Models = ReadonlyMap<string, Model>;

export const declaredModels = definePort<Models>('models of the OpenAI-compatible API');

/** @throws ConfigError CHAT_MODEL, CHAT_BACKEND. */
export function declareModels(site: Site<ModelsConfig>): Models {
  const models = new Map<string, Model>();
  for (const [index, { name, backend }] of site.config.models.entries()) {
    const at = `/models/${index}`;
    if (models.has(name)) throw site.fault('CHAT_MODEL', `${at}/name`, `duplicate model name "${name}"`);
    const vendors = backend.map(({ extra_config }, position) => {
      const vendor = Object.keys((extra_config?.['ai/llm'] as object | undefined) ?? {})[0];
      if (vendor !== undefined) return vendor;
      throw site.fault('CHAT_BACKEND', `${at}/backend/${position}`, 'the backend of a model must have "ai/llm"', {
        hint: 'Add "ai/llm" to "extra_config" of the backend.',
      });
    });
    models.set(name, { vendor: vendors[0]!, call: site.pipe(at) });
  }
  return models;
}
