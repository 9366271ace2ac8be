import { type DataObject, definePort, isObject, type PipeRequest, type Site, type Step } from '#contract';
import type { ModelsConfig } from './schema.ts';

/** A model that clients can use. */
export interface Model {
  /** Vendor of the model's first backend, such as `anthropic`; `gateway` if `ai/router` chooses the vendor. */
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
      const vendor = vendorOf(extra_config?.['ai/llm']) ?? (extra_config?.['ai/router'] ? 'gateway' : undefined);
      if (vendor !== undefined) return vendor;
      const message = 'the backend of a model must have "ai/llm" or "ai/router"';
      throw site.fault('CHAT_BACKEND', `${at}/backend/${position}`, message, {
        hint: 'Add "ai/llm" or "ai/router" to "extra_config" of the backend.',
      });
    });
    models.set(name, { vendor: vendors[0]!, call: site.pipe(at) });
  }
  return models;
}

function vendorOf(config: unknown): string | undefined {
  return Object.keys((config as object | undefined) ?? {}).find((key) => key !== 'format');
}

/** Sets the output encoding of models that have none to `streaming`, because components of their backends depend on it. */
export function writeEncodings(document: DataObject): void {
  const components = document['extra_config'];
  const config = isObject(components) ? components['ai/chat-completions'] : undefined;
  const models = isObject(config) ? config['models'] : undefined;
  if (!Array.isArray(models)) return;
  for (const model of models)
    if (isObject(model) && !Object.hasOwn(model, 'output_encoding')) model['output_encoding'] = 'streaming';
}
