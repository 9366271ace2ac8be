import { type BackendConfig, copyData, type Plugin } from '#contract';
import { compileSchema } from '../config/index.ts';

/** What a backend says of its HTTP client, with defaults; those alone without a backend, and where it says something wrong. */
export function configOfHttp({ name, places = [] }: Plugin, backend: BackendConfig | undefined): unknown {
  const place = places.find(({ at }) => at === 'backend');
  if (!place) return {};
  const written = backend && Object.hasOwn(backend.extra_config, name) ? backend.extra_config[name]! : {};
  const read = compileSchema(place.schema);
  const { value, errors } = read(copyData(written), '');
  // Its mistakes are told where it stands.
  return Object.freeze(errors.length > 0 ? read({}, '').value : value);
}
