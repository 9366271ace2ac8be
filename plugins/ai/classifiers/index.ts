import { atService, CallError, definePlugin, httpSigners, meterOf, meters, offer, type Site } from '#contract';
import { type Classifier, type Classifiers, classifiersPort, type Gate } from '../lib/classifiers.ts';
import { type Engine, notDiamond, ownServer } from './engines.ts';
import { openGate } from './gates.ts';
import { type ClassifierConfig, type ClassifiersConfig, schema } from './schema.ts';

/**
 * Declares the gates and classifiers that routes of `ai/router` use.
 *
 * Configuration faults: `CLASSIFIER_NAME`, `CLASSIFIER_FIELD`, `REQUEST_PART`, `AI_SERVER_ADDRESS` and those of
 * expressions; warnings `AI_SERVER_INSECURE`, `CEL_KEY`. Error of a call: `CLASSIFIER_FAILED`.
 */
export const plugin = definePlugin({
  name: 'ai/classifiers',
  description: 'Declares conditions and classifiers by which requests are routed to providers of models.',
  leaves: ['requests', 'data'],
  offers: [classifiersPort],
  takes: [httpSigners, meters],
  independent: true,
  places: [atService(schema, (site) => ({ offers: [offer(classifiersPort, open(site))] }))],
});

function open(site: Site<ClassifiersConfig>): Classifiers {
  const { gates, classifiers } = site.config;
  return {
    gates: byName(site, gates, 'gates', (config, at): Gate => openGate(site, config, at)),
    classifiers: byName(site, classifiers, 'classifiers', (config, at) => openClassifier(site, config, at)),
  };
}

function byName<C extends { readonly name: string }, T>(
  site: Site<unknown>,
  list: readonly C[],
  field: string,
  build: (config: C, at: string) => T,
): ReadonlyMap<string, T> {
  const named = new Map<string, T>();
  for (const [index, config] of list.entries()) {
    const at = `/${field}/${index}`;
    const { name } = config;
    if (named.has(name)) throw site.fault('CLASSIFIER_NAME', `${at}/name`, `the name "${name}" is used twice`);
    named.set(name, build(config, at));
  }
  return named;
}

function engineOf(site: Site<unknown>, { engine, notdiamond, http }: ClassifierConfig, at: string): Engine {
  if (engine === 'notdiamond' && notdiamond && !http) return notDiamond(site, notdiamond, `${at}/notdiamond`);
  if (engine === 'http' && http && !notdiamond) return ownServer(site, http, `${at}/http`);
  throw site.fault(
    'CLASSIFIER_FIELD',
    at,
    `a classifier with engine "${engine}" requires "${engine}" and no other engine`,
  );
}

function openClassifier(site: Site<unknown>, config: ClassifierConfig, at: string): Classifier {
  const engine = engineOf(site, config, at);
  const record = recorderOf(site, config.name);
  return {
    async choose(candidates, request, body, call) {
      const startedAt = performance.now();
      try {
        const response = await engine.ask(engine.question(candidates, request, body), call);
        const chosen = engine.answer(response, candidates);
        if (!chosen)
          throw new CallError('CLASSIFIER_FAILED', `the classifier ${config.name} did not choose one of the providers`);
        record?.('chosen', startedAt);
        return chosen;
      } catch (error) {
        record?.('failed', startedAt);
        throw error;
      }
    },
  };
}

type Result = 'chosen' | 'failed';

/** Counts and times classifications by their result, if an exporter is configured. */
function recorderOf(site: Site<unknown>, classifier: string): ((result: Result, startedAt: number) => void) | null {
  const meter = meterOf(site);
  if (!meter) return null;
  const choices = meter.counter('classifier.choices', { description: 'Classifications of requests.' });
  const duration = meter.histogram('classifier.duration', { description: 'Duration of classifications.', unit: 's' });
  const labels = { chosen: { classifier, result: 'chosen' }, failed: { classifier, result: 'failed' } };
  return (result, startedAt) => {
    choices.add(1, labels[result]);
    duration.record((performance.now() - startedAt) / 1000, labels[result]);
  };
}
