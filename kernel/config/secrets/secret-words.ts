import type { TextRange } from '../syntax/position.ts';
import { holdsReadSecret, maskReadSecrets } from './read-secrets.ts';

/** Names of fields that hold secrets, or may: broad, for masking. */
const secretName =
  /secret|password|passphrase|private|token|credential|api[-_]?key|^(?:proxy-)?authorization$|^cookie$/i;

/** Fields that hold a secret itself, and not the name of one or the way to it. */
const holding = /^(?:\w+_)?(?:password|passwd|passphrase|secret|token|api_?key|secret_(?:access_)?key|license_key)$/i;

/** A text that stands for a secret which is somewhere else. */
const reference = /^(?:\$|%?\{|(?:env|file|vault|secret):)|^$|\{\{|\$\{/;

const keyBegins = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const keyEnds = /-----END [A-Z ]*PRIVATE KEY/;
const addressWithPassword = /[\w+.-]+:\/\/[^/?#\s"']*:[^/?#\s"']*@/g;
const passwordInAddress = /:\/\/[^\s/?#@:]*:([^\s/?#@]+)@/;
const secretText = new RegExp(`${keyBegins.source}|^[\\w+.-]+:\\/\\/[^/?#\\s]*:[^/?#\\s]*@`);
/** The value of a query parameter whose name says that it holds a secret, unless it stands for one: `{id}`, `$X`. */
const secretInQuery =
  /([?&](?:[\w-]*[_-])?(?:password|passwd|passphrase|secret|token|api[-_]?key)=)[^&#\s{$%*][^&#\s]*/gi;

/** True for the name of a field whose value had better not be shown. */
export function mayHoldSecret(name: string): boolean {
  return secretName.test(name);
}

/** Fields that may hold the way to a secret as well as the secret itself. */
const leading = /^private_?key$|_(?:file|path|dir)$/i;
const path = /^(?=[^\s\0]{1,255}$)(?:~?\.{0,2}\/.*|.*\.[a-z\d]{1,5})$/i;

/** True for the path of a file with a secret, which is none itself. */
export function isPathOfSecret(name: string, text: string): boolean {
  return leading.test(name) && path.test(text) && !isSecretText(text);
}

/** True for the name of a field of a component that holds a secret itself. */
export function holdsSecret(name: string): boolean {
  return holding.test(name);
}

/** True for a text that is a secret wherever it stands: a private key, an address or a query with a password in it, a value of the environment. */
export function isSecretText(text: string): boolean {
  return secretText.test(text) || text.search(secretInQuery) >= 0 || holdsReadSecret(text);
}

const passwordsInAddresses = /(:\/\/[^\s/?#@:]*:)[^\s/?#@]+(?=@)/g;

/** Masks the secrets in a text of any kind. */
export function maskText(text: string, mask: string): string {
  if (text.includes('-----BEGIN ') && keyBegins.test(text)) return mask;
  const masked = maskReadSecrets(text, mask).replaceAll(secretInQuery, `$1${mask}`);
  return masked.includes('://') ? masked.replaceAll(passwordsInAddresses, `$1${mask}`) : masked;
}

/** True for nothing, and for what is filled in later: `$X`, `{{ env "X" }}`, `env:X`. */
export function isReference(text: string): boolean {
  return reference.test(text);
}

/** True for an address, with or without a scheme. */
export function isAddress(text: string): boolean {
  return text.includes('://') || /^[\w.-]+:\d+$/.test(text);
}

/** From where on a text is a private key. */
export function privateKeyIn(text: string): TextRange | undefined {
  const start = text.includes('-----BEGIN ') ? text.search(keyBegins) : -1;
  return start < 0 ? undefined : { start, end: text.length };
}

/** The password in an address, unless it stands for one. */
export function passwordIn(text: string): TextRange | undefined {
  const match = text.includes('@') && text.includes('://') ? passwordInAddress.exec(text) : null;
  if (!match || isReference(match[1]!)) return undefined;
  const end = match.index + match[0].length - 1;
  return { start: end - match[1]!.length, end };
}

/** Every address with a password in a line of any text. */
export function addressesIn(line: string): TextRange[] {
  return Array.from(line.matchAll(addressWithPassword), ({ 0: all, index }) => ({
    start: index,
    end: index + all.length,
  }));
}

/** True for a line with which a private key begins. */
export function beginsPrivateKey(line: string): boolean {
  return keyBegins.test(line);
}

/** True for a line with which a private key ends. */
export function endsPrivateKey(line: string): boolean {
  return keyEnds.test(line);
}
