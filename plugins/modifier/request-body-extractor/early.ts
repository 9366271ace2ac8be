import { atEndpoint, definePlugin } from '#contract';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { compileExtraction, ofClient } from './extract.ts';
import { schema } from './schema.ts';

/** Acts for one endpoint as `modifier/request-body-extractor` does at the root: before authentication and limits. Same errors. */
export const plugin = definePlugin({
  name: 'modifier/request-body-extractor/early',
  description: "Copies values from the request body into headers and query parameters of the client's request.",
  leaves: ['data'],
  offers: [personalHeaders],
  places: [
    atEndpoint(schema, (site) => {
      const extraction = compileExtraction(site);
      return { endpoint: ofClient(extraction), ...extraction.traits };
    }),
  ],
});
