import { credentialWords } from '../../values/credential-words.ts';
import type { TextRange } from '../syntax/position.ts';
import { holdsReadSecret, maskReadSecrets } from './read-secrets.ts';
import { maskTokens, tokensIn } from './tokens-in-text.ts';

/** Names of fields that hold secrets, or may: broad, for masking. */
const secretName = new RegExp(`${credentialWords}|^(?:proxy-)?authorization$|^cookie$`, 'i');

/** Fields that hold a secret itself, not its name or path. */
const holding = /^(?:\w+_)?(?:password|passwd|passphrase|secret|token|api_?key|secret_(?:access_)?key|license_key)$/i;

/** A text that refers to a secret stored elsewhere, or that the deployment replaces with a secret. */
const reference = /^(?:\$|%?\{|(?:env|file|vault|secret):)|^$|^<[^<>]+>$|\{\{|\$\{/;

const keyBegins = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const keyEnds = /-----END [A-Z ]*PRIVATE KEY/;
const addressWithPassword = /(?<![\w+.-])[\w+.-]+:\/\/[^/?#\s"':]*:[^/?#\s"']*@/g;
const passwordInAddress = /:\/\/[^\s/?#@:]*:([^\s/?#@]+)@/dg;
const secretText = new RegExp(`${keyBegins.source}|^[\\w+.-]+:\\/\\/[^/?#\\s:]*:[^/?#\\s]*@`);
/** Value of a query parameter whose name indicates a secret, unless it is a reference: `{id}`, `$X`. */
const secretInQuery =
  /([?&](?:[\w-]*[_-])?(?:password|passwd|passphrase|secret|token|api[-_]?key)=)[^&#\s{$%*][^&#\s]*/gi;

/** True for the name of a field whose value should not be shown. */
export function mayHoldSecret(name: string): boolean {
  return secretName.test(name);
}

/** First words of field names that hold either a secret or the path of a file with it. */
const leading = /^private_?key$|_(?:file|path|dir)$/i;
const path = /^(?=[^\s\0]{1,255}$)(?:~?\.{0,2}\/.*|.*\.[a-z\d]{1,5}|\.[a-z][\w.-]*)$/i;

/** True for the path of a file with a secret, which is not a secret itself. */
export function isPathOfSecret(name: string, text: string): boolean {
  return leading.test(name) && path.test(text) && !isSecretText(text);
}

/** True for the name of a component field that holds a secret itself. */
export function holdsSecret(name: string): boolean {
  return holding.test(name);
}

/**
 * True for a text that is a secret in any field: a private key, a URL or query with a password, a value read from the
 * environment, and text that contains a token or a URL with a password.
 */
export function isSecretText(text: string): boolean {
  return (
    secretText.test(text) ||
    text.search(secretInQuery) >= 0 ||
    holdsReadSecret(text) ||
    passwordIn(text) !== undefined ||
    tokensIn(text).length > 0
  );
}

const passwordsInAddresses = /(:\/\/[^\s/?#@:]*:)[^\s/?#@]+(?=@)/g;

/** Masks the secrets in any text. */
export function maskText(text: string, mask: string): string {
  if (text.includes('-----BEGIN ') && keyBegins.test(text)) return mask;
  const masked = maskTokens(maskReadSecrets(text, mask), mask).replaceAll(secretInQuery, `$1${mask}`);
  return masked.includes('://') ? masked.replaceAll(passwordsInAddresses, `$1${mask}`) : masked;
}

/** True for an empty text, and for values filled in later: `$X`, `{{ env "X" }}`, `env:X`, `<openai_key>`. */
export function isReference(text: string): boolean {
  return reference.test(text);
}

/** True for a URL, with or without a scheme. */
export function isAddress(text: string): boolean {
  return text.includes('://') || /^[\w.-]+:\d+$/.test(text);
}

/** Range of a private key in a text. */
export function privateKeyIn(text: string): TextRange | undefined {
  const start = text.includes('-----BEGIN ') ? text.search(keyBegins) : -1;
  return start < 0 ? undefined : { start, end: text.length };
}

/** Range of the first password in a URL of a text. References are not passwords. */
export function passwordIn(text: string): TextRange | undefined {
  if (!text.includes('@') || !text.includes('://')) return undefined;
  for (const { 1: password, indices } of text.matchAll(passwordInAddress)) {
    if (isReference(password!)) continue;
    const [start, end] = indices![1]!;
    return { start, end };
  }
  return undefined;
}

/** All URLs with a password in a line of text. */
export function addressesIn(line: string): TextRange[] {
  return Array.from(line.matchAll(addressWithPassword), ({ 0: all, index }) => ({
    start: index,
    end: index + all.length,
  }));
}

/** True for the first line of a private key. */
export function beginsPrivateKey(line: string): boolean {
  return keyBegins.test(line);
}

/** True for the last line of a private key. */
export function endsPrivateKey(line: string): boolean {
  return keyEnds.test(line);
}
