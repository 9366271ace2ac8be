import { equal } from 'node:assert/strict';
import SwaggerParser from '@apidevtools/swagger-parser';
import type { DataObject, ServiceConfig } from '#contract';
import { type DescribeOptions, describeApi } from '../../../plugins/documentation/openapi/export/describe-api.ts';
import { normalize } from '../../support/known.ts';

export const OPENAPI = 'documentation/openapi';

// biome-ignore lint/suspicious/noExplicitAny: documents of every shape, as those who read them see them.
export type Document = any;

const backend = [{ host: ['http://127.0.0.1:9'], url_pattern: '/' }];

/** An endpoint. @param more fields. @param components beside or in the place of `documentation/openapi`. */
export function endpoint(path: string, more: object = {}, components: object = {}): object {
  return { endpoint: path, backend, ...more, extra_config: components };
}

/** The same with what documents say of it. */
export function documented(path: string, settings: object, more: object = {}): object {
  return endpoint(path, more, { [OPENAPI]: settings });
}

/** A configuration without mistakes. */
export function configOf(endpoints: readonly object[], more: object = {}): ServiceConfig {
  const { config, errors } = normalize({ version: 3, endpoints, ...more });
  equal(errors.map(({ pointer, message }) => `${pointer} ${message}`).join('\n'), '');
  return config;
}

/** What a configuration is described as, plain as it is written. */
export function describedAs(config: ServiceConfig, options: DescribeOptions = {}): Document {
  return JSON.parse(JSON.stringify(describeApi(config, options).document));
}

/** The one operation of an endpoint. */
export function operationOf(one: object, more: object = {}, options: DescribeOptions = {}): Document {
  const [item] = Object.values(describedAs(configOf([one], more), options).paths) as Document[];
  return Object.values(item)[0];
}

/** @throws Error that says why a document is none. */
export async function validate(document: DataObject): Promise<void> {
  await SwaggerParser.validate(structuredClone(document) as never, { dereference: { circular: 'ignore' } });
}
