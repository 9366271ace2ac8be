import { type Data, type DataObject, getKey, getPath } from '#contract';
import type { ValidatorConfig } from './schema.ts';

/** Checks roles and scopes. Returns the reason for a rejection; null if the token may call the endpoint. */
export type Authorize = (claims: DataObject) => string | null;

/** Settings of the check of roles and scopes. */
export type Rules = Pick<
  ValidatorConfig,
  'roles' | 'roles_key' | 'roles_key_is_nested' | 'scopes' | 'scopes_key' | 'scopes_matcher'
>;

export function authorizer(config: Rules): Authorize {
  const { roles, scopes, scopes_matcher: matcher } = config;
  const rolesOf = config.roles_key_is_nested ? claimAt(config.roles_key) : whole(config.roles_key);
  const scopesOf = claimAt(config.scopes_key);
  return (claims) => {
    if (roles.length > 0) {
      const carried = listed(rolesOf(claims));
      if (!roles.some((role) => carried.includes(role))) return 'the token has none of the required roles';
    }
    if (scopes.length === 0) return null;
    const carried = listed(scopesOf(claims));
    const suffices =
      matcher === 'all' ? scopes.every((one) => carried.includes(one)) : scopes.some((one) => carried.includes(one));
    return suffices ? null : 'the token lacks required scopes';
  };
}

/** Reads a claim. Dots access nested objects, unless the name is a URL. */
export function claimAt(name: string): (claims: DataObject) => Data | undefined {
  if (!name.includes('.') || name.startsWith('http')) return whole(name);
  const path = name.split('.');
  return (claims) => getPath(claims, path);
}

function whole(name: string): (claims: DataObject) => Data | undefined {
  return (claims) => getKey(claims, name);
}

/** Returns the strings of an array, or the words of a string. */
function listed(value: Data | undefined): readonly Data[] {
  if (typeof value === 'string') return value.split(' ').filter((word) => word !== '');
  if (!Array.isArray(value)) return [];
  return value.every((member) => typeof member === 'string')
    ? value
    : value.filter((member) => typeof member === 'string');
}
