import { atEndpoint, atService, definePlugin } from '#contract';
import { personalHeaders } from '../../services/personal-headers.ts';
import { compileExtraction, ofClient, ofPipe } from './extract.ts';
import { schema } from './schema.ts';

/**
 * Copies values of JSON bodies into headers and query parameters. At the root it changes what clients have sent, so that
 * forwarding lists, authentication and limits see it; at an endpoint what goes to the backends. A body goes on as it came;
 * where there is none, or one that is not JSON, nothing is done.
 *
 * Faults of the configuration: `EXTRACTOR_HEADER`, `JMESPATH_SYNTAX`.
 */
export const plugin = definePlugin({
  name: 'modifier/request-body-extractor',
  description: 'Copies values of request bodies into headers and query parameters.',
  leaves: ['data'],
  offers: [personalHeaders],
  independent: true,
  places: [
    atService(schema, (site) => {
      const extraction = compileExtraction(site);
      return { request: ofClient(extraction), ...extraction.traits };
    }),
    atEndpoint(schema, (site) => {
      const extraction = compileExtraction(site);
      return { proxy: ofPipe(extraction), ...extraction.traits };
    }),
  ],
});
