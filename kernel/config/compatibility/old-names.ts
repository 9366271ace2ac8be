import type { Compatibility, Namespace } from '#contract';

/** Names from older releases (keys), with the current names that they are read as (values). */
export type OldNames = Readonly<Record<string, string>>;

/** Version 2 names of root, endpoint and backend fields. */
export const OLD_FIELDS: OldNames = {
  headers_to_pass: 'input_headers',
  querystring_params: 'input_query_strings',
  whitelist: 'allow',
  allowlist: 'allow',
  blacklist: 'deny',
  denylist: 'deny',
};

/** Current name of a namespace. @returns undefined if the name is not an old one. */
export function renamedNamespace(namespace: string, { oldNamespaces: names }: Compatibility): Namespace | undefined {
  const path = /^github[._]com\/(.+)$/.exec(namespace)?.[1];
  return path !== undefined && Object.hasOwn(names, path) ? names[path] : undefined;
}

/** Hint for a component that KrakenD removed; undefined for any other name. */
export function retirementOf(namespace: string, { retired = {} }: Compatibility): string | undefined {
  const path = /^github[._]com\/(.+)$/.exec(namespace)?.[1];
  return path !== undefined && Object.hasOwn(retired, path) ? retired[path] : undefined;
}

/** Current name of a component. */
export function presentName(namespace: string, compatibility: Compatibility): Namespace {
  return renamedNamespace(namespace, compatibility) ?? namespace;
}

/** Old names of a namespace, without the prefix `github.com/` or `github_com/`. */
export function oldNamesOf(namespace: Namespace, { oldNamespaces: names }: Compatibility): string[] {
  return Object.keys(names).filter((name) => names[name] === namespace);
}
