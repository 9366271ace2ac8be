import { atBackend, definePlugin, type Schema } from '#contract';
import { backendFiles } from '../shared/files/backend-files.ts';
import { checkDirectory, directoryFields } from '../shared/files/directory-setting.ts';
import { decodePath } from '../shared/files/file-path.ts';

const schema = {
  type: 'object',
  title: 'Files as a backend',
  examples: [{ path: './samples' }, { path: './samples', directory_listing: true }],
  required: ['path'],
  properties: directoryFields,
} as const satisfies Schema;

/**
 * Responds to backend calls with files, selected by the path of the request. With `no-op`, files are sent as by a web
 * server; any other encoding decodes them, up to 10 MiB.
 *
 * Configuration fault: `STATIC_PATH`. Call errors: `STATIC_METHOD`, `STATIC_READ`, and `BACKEND_STATUS` as for any
 * backend.
 */
export const plugin = definePlugin({
  name: 'backend/static-filesystem',
  description: 'Answers backend calls with files from a directory.',
  hostless: true,
  places: [
    atBackend(schema, (site) => {
      checkDirectory(site, site.config.path);
      const files = backendFiles(site.config, site);
      return { protocol: { call: (request) => files(pathOf(request.target), request), hostless: true } };
    }),
  ],
});

/** Path of the request. The query is ignored. */
function pathOf(target: string): string | null {
  return decodePath(target.split('?', 1)[0]!);
}
