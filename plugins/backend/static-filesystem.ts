import { atBackend, definePlugin, type Schema } from '#contract';
import { backendFiles } from '../services/files/backend-files.ts';
import { checkDirectory, directoryFields } from '../services/files/directory-setting.ts';
import { decodePath } from '../services/files/file-path.ts';

const schema = {
  type: 'object',
  title: 'Files as a backend',
  examples: [{ path: './samples' }, { path: './samples', directory_listing: true }],
  required: ['path'],
  properties: directoryFields,
} as const satisfies Schema;

/**
 * Answers calls of a backend with files, by the path that would be asked for. With `no-op` they pass as a web server sends
 * them; any other encoding decodes them, up to 10 MiB.
 *
 * Fault of the configuration: `STATIC_PATH`. Errors of a call: `STATIC_METHOD`, `STATIC_READ`, and `BACKEND_STATUS` as of any
 * backend.
 */
export const plugin = definePlugin({
  name: 'backend/static-filesystem',
  description: 'Answers backend calls with files from a directory.',
  places: [
    atBackend(schema, (site) => {
      checkDirectory(site, site.config.path);
      const files = backendFiles(site.config, site);
      return { protocol: { call: (request) => files(pathOf(request.target), request), hostless: true } };
    }),
  ],
});

/** The query counts for nothing. */
function pathOf(target: string): string | null {
  return decodePath(target.split('?', 1)[0]!);
}
