import { atEndpoint, atService, definePlugin } from '#contract';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { compileExtraction, ofClient, ofPipe } from './extract.ts';
import { schema } from './schema.ts';

/**
 * Copies values of JSON bodies to headers and query parameters. At the root it changes the clients' requests, so that
 * forwarding lists, authentication and limits see the values; at an endpoint it changes the backend requests. The body
 * is forwarded unchanged; without a body, or if the body is not JSON, nothing is copied.
 * Configuration errors: `EXTRACTOR_HEADER`, `JMESPATH_SYNTAX`.
 */
export const plugin = definePlugin({
  name: 'modifier/request-body-extractor',
  description: 'Copies values from request bodies into headers and query parameters.',
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
