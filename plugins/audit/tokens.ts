import { type AuditedComponent, type AuditedFiles, type AuditSubject, isObject, joinPointer } from '#contract';

/** Minimum length of a symmetric key, in bytes (256 bits). */
const MIN_KEY_BYTES = 32;

/** Returns components that accept forgeable tokens: unsigned ones, or ones signed with a key short enough to be guessed. */
export function weakTokens({ components, files }: AuditSubject): string[] {
  return components
    .filter(({ namespace }) => namespace === 'auth/validator' || namespace === 'auth/signer')
    .flatMap((component) => weaknesses(component, files));
}

function weaknesses({ pointer, settings }: AuditedComponent, files: AuditedFiles): string[] {
  const { alg, jwk_local_path: path, secret_url: encrypted } = settings;
  if (typeof alg === 'string' && alg.toLowerCase() === 'none') return [joinPointer(pointer, 'alg')];
  const isReadable = typeof path === 'string' && encrypted === undefined;
  return isReadable && hasShortKey(files.text(path)) ? [joinPointer(pointer, 'jwk_local_path')] : [];
}

/** Returns whether a JWK set has a symmetric key that is too short; false for an invalid JWK set. */
function hasShortKey(text: string | undefined): boolean {
  let set: unknown;
  try {
    set = JSON.parse(text ?? '');
  } catch {
    return false;
  }
  const keys = isObject(set) ? set['keys'] : undefined;
  return (
    Array.isArray(keys) &&
    keys.some(
      (key) =>
        isObject(key) &&
        key['kty'] === 'oct' &&
        Buffer.from(String(key['k'] ?? ''), 'base64url').length < MIN_KEY_BYTES,
    )
  );
}
