import { type BackendConfig, copyData, type Plugin } from '#contract';
import { compileSchema } from '../../config/index.ts';

/**
 * Returns a backend's HTTP client settings, with defaults; only defaults without a backend, or when its settings are
 * invalid.
 */
export function configOfHttp({ name, places = [] }: Plugin, backend: BackendConfig | undefined): unknown {
  const place = places.find(({ at }) => at === 'backend');
  if (!place) return {};
  const written = backend && Object.hasOwn(backend.extra_config, name) ? backend.extra_config[name]! : {};
  const read = compileSchema(place.schema);
  const { value, errors } = read(copyData(written), '');
  // Invalid settings are reported where they are configured, so the defaults are used here.
  return Object.freeze(errors.length > 0 ? read({}, '').value : value);
}
