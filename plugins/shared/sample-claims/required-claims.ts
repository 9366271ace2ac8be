import { type Data, type DataObject, getKey, isObject, setKey } from '#contract';

/** Claims that the settings of a token validator require: issuer, audience, and all listed roles and scopes. */
export function requiredClaims(settings: Readonly<DataObject>): DataObject {
  const { issuer, audience, roles, roles_key: rolesKey, roles_key_is_nested: isNested } = settings;
  const { scopes, scopes_key: scopesKey } = settings;
  const claims: DataObject = {};
  if (typeof issuer === 'string' && issuer !== '') setKey(claims, 'iss', issuer);
  if (Array.isArray(audience) && audience.length > 0) setKey(claims, 'aud', audience);
  if (Array.isArray(roles) && roles.length > 0) setClaim(claims, rolesKey ?? 'roles', isNested === true, roles);
  if (Array.isArray(scopes) && scopes.length > 0) setClaim(claims, scopesKey ?? '', true, scopes.join(' '));
  return claims;
}

/** Sets a claim. If it is nested, dots lead into objects, unless the name is a URL. An empty name sets nothing. */
export function setClaim(claims: DataObject, name: Data, isNested: boolean, value: Data): void {
  if (typeof name !== 'string' || name === '') return;
  const steps = isNested && !name.startsWith('http') ? name.split('.') : [name];
  let holder = claims;
  for (const step of steps.slice(0, -1)) {
    const known = getKey(holder, step);
    const inner: DataObject = isObject(known) ? known : {};
    setKey(holder, step, inner);
    holder = inner;
  }
  setKey(holder, steps.at(-1)!, value);
}
