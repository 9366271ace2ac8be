import type { AtBackend, AtEndpoint, EndpointSite } from '#contract';
import { hasMessages } from '../../../shared/replies/on-data.ts';
import { generatingMessages, generatingResponses } from './response-body.ts';
import type { GeneratorConfig } from './schema.ts';

/** Generates the responses of an endpoint or a backend, or their messages. Errors: those of the two functions. */
export function generating(
  site: EndpointSite<GeneratorConfig>,
  phase: 'proxy' | 'backend',
): Pick<AtEndpoint & AtBackend, 'proxy' | 'backend' | 'message' | 'readsData'> {
  return hasMessages(site)
    ? { message: generatingMessages(site), readsData: true }
    : { [phase]: generatingResponses(site), readsData: 'optional' };
}
