import { type Data, type DataObject, isObject } from '#contract';

/** A built-in server that the root names. */
interface NamedServer {
  readonly components: DataObject;
  readonly settings: Data | undefined;
}

/** Removes a built-in server from the names at the root, with its settings. @returns null if it is not named. */
export function takeServer(document: DataObject, name: string): NamedServer | null {
  const components = document['extra_config'];
  const config = isObject(components) ? components['plugin/http-server'] : undefined;
  if (!isObject(components) || !isObject(config)) return null;
  const names = [config['name'] ?? []].flat();
  if (!names.includes(name)) return null;
  const settings = config[name];
  config['name'] = names.filter((one) => one !== name);
  delete config[name];
  return { components, settings };
}
