import type { DataObject } from '#contract';
import type { ImportOptions } from '../../../../plugins/documentation/openapi/import/to-configuration.ts';
import { toConfiguration } from '../../../../plugins/documentation/openapi/import/to-configuration.ts';
import type { Document } from '../fixture.ts';

/**
 * An OpenAPI 3.0 document.
 * @param paths its paths.
 * @param more additional members.
 */
export function spec(paths: object, more: object = {}): object {
  return { openapi: '3.0.3', info: { title: 'shop', version: '1.0.0' }, paths, ...more };
}

const ok = { responses: { 200: { description: 'OK' } } };

/** An operation with the given fields. */
export function operation(said: object = {}): object {
  return { ...ok, ...said };
}

/** The configuration imported from a document. */
export function imported(document: object, options: Partial<ImportOptions> = {}) {
  const whole: ImportOptions = {
    baseHost: 'http://shop.internal:8080',
    prefix: '',
    outputEncoding: 'json',
    timeout: undefined,
    validate: false,
    existing: undefined,
    ...options,
  };
  const { configuration, notes, errors } = toConfiguration([['shop.json', plain(document) as DataObject]], whole);
  return { configuration: plain(configuration), notes, errors };
}

function plain(value: unknown): Document {
  return JSON.parse(JSON.stringify(value));
}
