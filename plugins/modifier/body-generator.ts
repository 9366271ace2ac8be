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
        throw site.fault(
          'TEMPLATE_TWICE',
          '',
          `the component is an alias of "${successor}", which is also configured`,
          {
            hint: 'remove one of them',
          },
        );
      }
      return { backend: generatingRequests(site) };
    }),
  ],
});
