import { type Data, type DataObject, isObject } from '#contract';

/** A built-in server plugin that `plugin/http-server` at the root lists, with its settings. */
interface NamedServer {
  readonly components: DataObject;
  readonly settings: Data | undefined;
}

/** Removes a built-in server plugin and its settings from `plugin/http-server`. @returns null if it is not listed there. */
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
