import { type AtEndpoint, atEndpoint, atService, definePlugin, type EndpointSite, findNear, offer } from '#contract';
import { reportsUsage } from '../../shared/ports/usage.ts';
import { ownAnswer } from '../lib/own-answer.ts';
import { listModels } from './listing.ts';
import { declaredModels, declareModels, type Models, writeEncodings } from './models.ts';
import { type EndpointSettings, endpointSchema, serviceSchema } from './schema.ts';
import { serveCompletions } from './serve.ts';

const name = 'ai/chat-completions';

/**
 * Serves OpenAI's Chat Completions API for every vendor that `ai/llm` supports. Models are declared at the root and
 * served by endpoints; each request chooses its model and whether its response is streamed.
 *
 * Configuration faults: `CHAT_MODEL`, `CHAT_BACKEND`, `CHAT_METHOD`. Call error: `CHAT_COMPLETION`.
 */
export const plugin = definePlugin({
  name,
  description: 'Serves the OpenAI Chat Completions API over models of any vendor that ai/llm supports.',
  offers: [declaredModels, reportsUsage],
  takes: [declaredModels],
  answersAlone: true,
  convert: writeEncodings,
  becomes: ['encoding/streaming'],
  expectsBelow: { component: name, called: `an endpoint with ${name}`, suits: () => true },
  independent: true,
  places: [
    atService(serviceSchema, (site) => ({ offers: [offer(declaredModels, declareModels(site))] })),
    atEndpoint(endpointSchema, (site): AtEndpoint => {
      const models = modelsOf(site);
      // Errors in the declared models are reported at the root, not at the endpoint.
      if (models === null) return ownAnswer;
      const { method } = site.endpoint;
      if (method === 'POST')
        return { ...answers, offers: [offer(reportsUsage, true)], endpoint: () => serveCompletions(models) };
      if (method === 'GET') return { ...answers, endpoint: () => listModels(models) };
      throw site.fault('CHAT_METHOD', '', `${name} cannot serve ${method}`, {
        hint: 'Set "method" to "POST" for chat completions or to "GET" for the list of models.',
      });
    }),
  ],
});

const answers: AtEndpoint = { ...ownAnswer, terminal: true };

/**
 * Returns the models of an endpoint.
 * @throws ConfigError CHAT_MODEL.
 * @returns null if the models declared at the root are invalid.
 */
function modelsOf(site: EndpointSite<EndpointSettings>): Models | null {
  const declared = site.take(declaredModels);
  if (!declared) {
    if (Object.hasOwn(site.setting('extra_config'), name)) return null;
    throw site.fault('CHAT_MODEL', '', `no models are declared: the root has no "${name}"`, {
      hint: `Add "${name}" with "models" to "extra_config" at the root.`,
    });
  }
  const { models: names } = site.config;
  if (names === undefined) return declared;
  return new Map(
    names.map((each, index) => {
      const model = declared.get(each);
      if (model) return [each, model];
      const near = findNear(each, [...declared.keys()]);
      throw site.fault('CHAT_MODEL', `/models/${index}`, `unknown model "${each}"`, {
        hint: near ? `Did you mean "${near.name}"?` : `Declare the model in "${name}" at the root.`,
        fix: near?.isSure ? { value: near.name } : undefined,
      });
    }),
  );
}
