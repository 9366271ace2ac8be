import { atEndpoint, atService, type DataObject, definePlugin, type EndpointConfig } from '#contract';
import { openapiCommand, typescriptCommand } from './client/command.ts';
import { reportErrors } from './errors.ts';
import { exportCommand } from './export/command.ts';
import { describeApi, settingsOf } from './export/describe-api.ts';
import { parameterFaults } from './export/parameters.ts';
import { importCommand } from './import/command.ts';
import { serveCommand } from './import/serve-command.ts';
import { documentPages } from './pages.ts';
import { endpointSchema, serviceSchema } from './schema.ts';

/**
 * Settings for OpenAPI documents that supplement the configuration. They do not affect serving, except for `serve`,
 * which serves such a document.
 * Configuration errors: `OPENAPI_OPERATION_ID`, `OPENAPI_SCHEMA`, `OPENAPI_REF`, `OPENAPI_CONTENT_TYPE`,
 * `OPENAPI_EXAMPLE`, `OPENAPI_STATUS`; warnings `OPENAPI_SCHEME`, `OPENAPI_PARAMETER`.
 */
export const plugin = definePlugin({
  name: 'documentation/openapi',
  description: 'Settings of the OpenAPI document, which is exported by a command or served with a documentation page.',
  oldFields: {
    termsOfService: 'terms_of_service',
    'contact-name': 'contact_name',
    'contact-url': 'contact_url',
    'contact-email': 'contact_email',
    basePath: 'base_path',
    'license-name': 'license_name',
    'license-url': 'license_url',
  },
  freeKeys: true,
  leaves: ['requests', 'data'],
  convert: reportErrors,
  commands: {
    'client openapi': openapiCommand,
    'client typescript': typescriptCommand,
    'export openapi': exportCommand,
    'import openapi': importCommand,
    'serve openapi': serveCommand,
  },
  places: [
    atService(serviceSchema, ({ config: { serve }, setting, serving }) => {
      if (!serve) return {};
      const config = {
        name: setting('name'),
        tls: setting('tls'),
        extra_config: setting('extra_config'),
      };
      let described: { readonly endpoints: readonly EndpointConfig[]; readonly document: DataObject } | undefined;
      return {
        routes: documentPages(serve.path, () => {
          const { endpoints } = serving();
          if (described?.endpoints !== endpoints) {
            const { document } = describeApi({ ...config, endpoints }, { audience: serve.audience, version: '3.1' });
            described = { endpoints, document };
          }
          return described.document;
        }),
      };
    }),
    atEndpoint(endpointSchema, (site) => {
      for (const { pointer, message } of parameterFaults(site.endpoint, settingsOf(site.endpoint))) {
        site.warn('OPENAPI_PARAMETER', pointer, message);
      }
      return {};
    }),
  ],
});
