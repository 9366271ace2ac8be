import { type HeaderBag, isHeaderName, Query } from '#contract';
import type { Component } from './structured.ts';

/** The parts of a request from which signature components are derived. */
export interface Message {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  /** The `Host` header. */
  readonly host: string;
  /** Undecoded path. */
  readonly path: string;
  /** Undecoded query without `?`. */
  readonly search: string;
  readonly headers: HeaderBag;
}

/** Components that are derived from a request. */
const derived: Readonly<Record<string, (message: Message) => string>> = {
  '@method': ({ method }) => method,
  '@scheme': ({ scheme }) => scheme,
  '@authority': authorityOf,
  '@path': ({ path }) => path || '/',
  '@query': ({ search }) => `?${search}`,
  '@request-target': targetOf,
  '@target-uri': (message) => `${message.scheme}://${authorityOf(message)}${targetOf(message)}`,
};

function authorityOf({ host, scheme }: Message): string {
  return host.toLowerCase().replace(scheme === 'https' ? /:443$/ : /:80$/, '');
}

function targetOf({ path, search }: Message): string {
  return `${path || '/'}${search === '' ? '' : `?${search}`}`;
}

/** Whether a text is the name of a component without parameters. */
export function isComponent(name: string): boolean {
  if (name.startsWith('@')) return Object.hasOwn(derived, name);
  return isHeaderName(name) && name === name.toLowerCase();
}

/** The value of a component; null if the message has none, or it is not supported. */
function componentValue({ name, queryName, isUnsupported }: Component, message: Message): string | null {
  if (isUnsupported) return null;
  if (queryName !== null) return queryValue(message.search, queryName);
  if (name.startsWith('@')) return Object.hasOwn(derived, name) ? derived[name]!(message) : null;
  const values = message.headers.getAll(name);
  return values.length === 0 ? null : values.map((value) => value.trim()).join(', ');
}

/** The encoded value of a query parameter; null unless it occurs exactly once. */
function queryValue(search: string, encodedName: string): string | null {
  const found = [...Query.parse(search)].filter(([name]) => encoded(name) === encodedName);
  const values = found.flatMap(([, all]) => all);
  return values.length === 1 ? encoded(values[0]!) : null;
}

/** Percent-encodes a text as RFC 9421 does. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()~]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Builds the text that is signed.
 * @param params serialization of the components and parameters.
 * @returns the text; or the identifier of a component that the message lacks, or that is not supported.
 */
export function signatureBase(
  components: readonly Component[],
  params: string,
  message: Message,
): { readonly base: Buffer } | { readonly missing: string } {
  let base = '';
  for (const component of components) {
    const value = componentValue(component, message);
    if (value === null) return { missing: component.identifier };
    base += `${component.identifier}: ${value}\n`;
  }
  return { base: Buffer.from(`${base}"@signature-params": ${params}`, 'latin1') };
}
