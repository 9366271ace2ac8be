import { type BackendSite, isObject, type PipeRequest, type Wrap } from '#contract';
import { backendFiles } from '../../shared/files/backend-files.ts';
import { checkDirectory } from '../../shared/files/directory-setting.ts';
import { decodePath } from '../../shared/files/file-path.ts';
import { belowPrefix } from '../../shared/files/path-prefix.ts';
import { type NamingSite, settingsOf } from './place.ts';
import { compileSettings } from './settings.ts';

/** Name of KrakenD's client that serves files. */
export const STATIC_CLIENT = 'static-filesystem';

const path = { type: 'string', pattern: '^/' };

const checkSettings = compileSettings({
  type: 'object',
  required: ['path'],
  additionalProperties: false,
  patternProperties: { '^[@$_#]': {} },
  properties: {
    path: { type: 'string', minLength: 1 },
    prefix: { ...path, default: '/' },
    skip: { type: 'array', items: path, default: [] },
    directory_listing: { type: 'boolean', default: false },
  },
});

interface Settings {
  readonly path: string;
  readonly prefix: string;
  readonly skip: readonly string[];
  readonly directory_listing: boolean;
}

/**
 * Serves backend calls below a prefix from files; other calls and skipped paths go to the backend's host.
 * @throws ConfigError PLUGIN_SETTINGS, STATIC_PATH; warning CONFIG_OLD_PLUGIN.
 */
export function staticClient(site: NamingSite & BackendSite<unknown>): Wrap<PipeRequest> {
  const written = settingsOf(site, { name: STATIC_CLIENT, file: 'the reference', checkSettings });
  const settings = (isObject(written) ? written : {}) as unknown as Settings;
  checkDirectory(site, settings.path, `/${STATIC_CLIENT}/path`);
  site.warn('CONFIG_OLD_PLUGIN', '/name', `the built-in client "${STATIC_CLIENT}" is outdated`, {
    hint: 'add "backend/static-filesystem": {"path": …} to the backend, and remove its prefix from url_pattern',
  });
  const files = backendFiles(settings, site);
  return (next) => (request, call) => {
    const requested = decodePath(request.target.split('?', 1)[0]!);
    if (requested === null) return files(null, request);
    const rest = belowPrefix(requested, settings.prefix);
    const isSkipped = settings.skip.some((skipped) => belowPrefix(requested, skipped) !== undefined);
    return rest === undefined || isSkipped ? next(request, call) : files(rest, request);
  };
}
