import { atEndpoint, atService, definePlugin } from '#contract';
import { exportCommand } from './command.ts';
import { endpointSchema, serviceSchema } from './schema.ts';

/** What a collection for Postman says besides what the configuration tells by itself. It never changes what is served. */
export const plugin = definePlugin({
  name: 'documentation/postman',
  description: 'Documents the API: the exported Postman collection.',
  leaves: ['requests', 'data'],
  commands: { 'export postman': exportCommand },
  places: [atService(serviceSchema, () => ({})), atEndpoint(endpointSchema, () => ({}))],
});
