import { atBackend, definePlugin, type Schema } from '#contract';
import { isOneOfConditional, isPassedThrough, sharesAlias } from './placement.ts';
import { errorCode, errorDetails } from './status-failure.ts';

const schema = {
  type: 'object',
  title: 'Backend errors',
  examples: [{ return_error_details: 'users' }, { return_error_code: true }],
  properties: {
    return_error_details: {
      type: 'string',
      description:
        'Name for the details of a failed call, which are added to the response data under the key error_NAME. Default: the call fails without details.',
      examples: ['users'],
    },
    return_error_code: {
      type: 'boolean',
      description:
        "Returns the backend's status to the client. Requires a single backend. Default: the client gets 500.",
    },
  },
} as const satisfies Schema;

/** Determines what the client receives if a backend responds with a status other than 200 or 201. */
export const plugin = definePlugin({
  name: 'backend/http',
  description:
    'Passes the status of a failed backend call to the client, in the response data or as the response status.',
  leaves: ['requests', 'data'],
  places: [
    atBackend(schema, (site) => {
      const { return_error_details: alias, return_error_code: passesCode } = site.config;
      if (alias !== undefined && passesCode !== undefined) {
        throw site.fault('HTTP_ERRORS_BOTH', '', 'return_error_details and return_error_code cannot be combined');
      }
      if (alias === undefined && passesCode === undefined) {
        throw site.fault('HTTP_ERRORS_NONE', '', 'return_error_details or return_error_code is missing');
      }
      const { endpoint, backend } = site;
      if (isPassedThrough(site)) {
        site.warn(
          'HTTP_ERRORS_RAW',
          '',
          "backend/http has no effect: the backend's own response is sent to the client",
        );
        return {};
      }
      if (alias !== undefined) {
        if (sharesAlias(endpoint, site.index, alias)) {
          site.warn(
            'HTTP_ERRORS_ALIAS',
            '/return_error_details',
            `another backend also uses "${alias}": the later one replaces it`,
          );
        }
        return alias === '' ? {} : { transport: errorDetails(alias, backend) };
      }
      if (endpoint.backend.length > 1 && !isOneOfConditional(endpoint)) {
        site.warn(
          'HTTP_ERRORS_SEVERAL',
          '/return_error_code',
          'return_error_code has no effect on an endpoint with several backends',
        );
        return {};
      }
      return passesCode ? { transport: errorCode(backend) } : {};
    }),
  ],
});
