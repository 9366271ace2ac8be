import { equal } from 'node:assert/strict';
import SwaggerParser from '@apidevtools/swagger-parser';
import type { DataObject, ServiceConfig } from '#contract';
import { type DescribeOptions, describeApi } from '../../../plugins/documentation/openapi/export/describe-api.ts';
import { normalize } from '../../support/known.ts';

export const OPENAPI = 'documentation/openapi';

// biome-ignore lint/suspicious/noExplicitAny: documents have arbitrary members.
export type Document = any;

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];

/**
 * An endpoint.
 * @param more additional fields.
 * @param components in addition to `documentation/openapi`, or instead of it.
 */
export function endpoint(path: string, more: object = {}, components: object = {}): object {
  return { endpoint: path, backend, ...more, extra_config: components };
}

/** An endpoint with documentation. */
export function documented(path: string, settings: object, more: object = {}): object {
  return endpoint(path, more, { [OPENAPI]: settings });
}

/** A valid configuration. */
export function configOf(endpoints: readonly object[], more: object = {}): ServiceConfig {
  const { config, errors } = normalize({ version: 3, endpoints, ...more });
  equal(errors.map(({ pointer, message }) => `${pointer} ${message}`).join('\n'), '');
  return config;
}

/** The document of a configuration as plain data. */
export function describedAs(config: ServiceConfig, options: DescribeOptions = {}): Document {
  return JSON.parse(JSON.stringify(describeApi(config, options).document));
}

/** The single operation of an endpoint. */
export function operationOf(one: object, more: object = {}, options: DescribeOptions = {}): Document {
  const [item] = Object.values(describedAs(configOf([one], more), options).paths) as Document[];
  return Object.values(item)[0];
}

/** @throws Error that explains why a document is invalid. */
export async function validate(document: DataObject): Promise<void> {
  await SwaggerParser.validate(structuredClone(document) as never, { dereference: { circular: 'ignore' } });
}
