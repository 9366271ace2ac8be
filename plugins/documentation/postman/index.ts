import { atEndpoint, atService, definePlugin } from '#contract';
import { exportCommand } from './command.ts';
import { endpointSchema, serviceSchema } from './schema.ts';

/** Settings for Postman collections that supplement the configuration. They do not affect serving. */
export const plugin = definePlugin({
  name: 'documentation/postman',
  description: 'Settings of the Postman collection that is exported by a command.',
  leaves: ['requests', 'data'],
  commands: { 'export postman': exportCommand },
  places: [atService(serviceSchema, () => ({})), atEndpoint(endpointSchema, () => ({}))],
});
