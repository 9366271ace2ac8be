import { atBackend, definePlugin } from '#contract';
import { generatingRequests } from '../engines/templates/request-body.ts';
import { generatorSchema, requestExample } from './lib/template/schema.ts';

const successor = 'modifier/request-body-generator';

/** Former name of `modifier/request-body-generator` at backends. Additional error: `TEMPLATE_TWICE`. */
export const plugin = definePlugin({
  name: 'modifier/body-generator',
  description: `Former name of ${successor} at backends.`,
  freeKeys: true,
  leaves: ['data'],
  places: [
    atBackend(generatorSchema(requestExample), (site) => {
      if (Object.hasOwn(site.backend.extra_config, successor)) {
        throw site.fault('TEMPLATE_TWICE', '', `it is an alias of "${successor}", which is configured as well`, {
          hint: 'leave one of them out',
        });
      }
      return { backend: generatingRequests(site) };
    }),
  ],
});
