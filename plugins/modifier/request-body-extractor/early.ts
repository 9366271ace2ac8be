import { atEndpoint, definePlugin } from '#contract';
import { personalHeaders } from '../../services/personal-headers.ts';
import { compileExtraction, ofClient } from './extract.ts';
import { schema } from './schema.ts';

/**
 * As `modifier/request-body-extractor` at the root, for one endpoint: before authentication and limits. Faults: the same.
 */
export const plugin = definePlugin({
  name: 'modifier/request-body-extractor/early',
  description: "Copies values of bodies into headers and query parameters of the client's request.",
  leaves: ['data'],
  offers: [personalHeaders],
  places: [
    atEndpoint(schema, (site) => {
      const extraction = compileExtraction(site);
      return { endpoint: ofClient(extraction), ...extraction.traits };
    }),
  ],
});
