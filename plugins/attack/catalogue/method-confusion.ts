import type { Attack, Weakness } from '#contract';
import { addHeader, isServed, received } from '../requests.ts';

const overrides = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];

/** Methods that components compare, in spellings that servers accept. */
const methods = ['HEAD', 'OPTIONS', 'get', 'Get', 'PROPFIND', 'TRACE', 'PATCH', 'QUERY'];

export const methodConfusion: Attack = {
  name: 'method-confusion',
  severity: 'HIGH',
  title: 'A client can choose a method that the endpoint does not have',
  description:
    'Sends headers that override the method, and other methods without credentials. A finding is a header that overrides the method at the backend, or a request to the backend with another method that the endpoint did not authenticate.',
  applies: () => true,
  async run({ baseline, anonymous, pointer, send }) {
    const weaknesses: Weakness[] = [];
    for (const name of overrides) {
      const request = addHeader(baseline, name, 'DELETE');
      const { calls } = await send(request);
      if (!calls.some((call) => received(call, name).includes('DELETE'))) continue;
      weaknesses.push({
        shown: `The backend received ${name}: DELETE from the client, which many frameworks execute as DELETE.`,
        remedy: `Remove ${name} from input_headers; list headers instead of "*" (sluice audit 2.2.3).`,
        pointer: `${pointer}/input_headers`,
        requests: [request],
      });
      break;
    }
    for (const method of anonymous ? methods : []) {
      const request = { ...anonymous!, method };
      const response = await send(request);
      if (!isServed(response) || response.calls.length === 0) continue;
      weaknesses.push({
        shown: `The backend received a ${method} request without credentials.`,
        remedy: 'Protect all methods of the path, or declare only those that clients use.',
        severity: 'CRITICAL',
        requests: [request],
      });
      break;
    }
    return weaknesses;
  },
};
