import type Koa from 'koa';
import type { AdminScope, DataObject, McpTool } from '#contract';
import { isObject } from '#contract';
import { currentEtag } from '../etag.ts';
import { operationIdOf } from '../openapi/document.ts';
import type { Admin, Operation } from '../operation.ts';
import type { Outcome, RunOperation } from './run-operation.ts';

/** Maximum length of a result text, in characters: models cannot read more. */
const MAX_TEXT = 256 * 1024;

/** Context of a message to the admin port. */
export interface AdminContext {
  readonly ctx: Koa.Context;
  readonly admin: Admin;
  readonly run: RunOperation;
}

/** A tool, and the scope that its caller's token requires. */
export interface AdminTool extends McpTool<AdminContext> {
  readonly scope: AdminScope;
}

/** Operations that change the serving configuration, or preview a change. */
export interface ChangeOperations {
  readonly check: Operation;
  readonly diff: Operation;
  readonly put: Operation;
}

/** A tool for every read operation, and tools that propose and apply a change. */
export function adminTools(operations: readonly Operation[], changes: ChangeOperations): readonly AdminTool[] {
  const read = operations.filter(
    ({ method, scope, responses }) => method === 'GET' && scope === 'read' && !isStream(responses),
  );
  return [...read.map(readingTool), proposeTool(changes), applyTool(changes)];
}

function isStream(responses: Operation['responses']): boolean {
  return Object.keys(responses[200]?.content ?? {}).includes('text/event-stream');
}

/** Models must not see secrets: parameters that reveal them are omitted. */
const withheld = ['reveal'];

function readingTool(operation: Operation): AdminTool {
  const { path, summary } = operation;
  const parameters = (operation.parameters ?? []).filter(
    (parameter) => parameter.in !== 'header' && !withheld.includes(parameter.name),
  );
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  const segments = path.replace(/[:*]([A-Za-z]+)/g, '{$1}').split('/');
  const name = operationIdOf(
    'get',
    segments.filter((segment) => segment !== '' && segment !== 'v1'),
  );
  const properties = parameters.map((parameter): [string, object] => [
    parameter.name,
    { ...parameter.schema, description: parameter.description },
  ]);
  return tool('read', {
    name,
    description: summary,
    properties: Object.fromEntries(properties),
    required,
    isReadOnly: true,
    async call(args, { ctx, run }) {
      const params: Record<string, string> = {};
      const query = new URLSearchParams();
      for (const [key, value] of Object.entries(args)) {
        const parameter = known.get(key);
        if (!parameter || isObject(value) || Array.isArray(value)) return failure(`unknown argument ${key}`);
        if (parameter.in === 'path') params[key] = String(value);
        else query.append(key, String(value));
      }
      const missing = required.find((one) => !Object.hasOwn(args, one));
      if (missing !== undefined) return failure(`the argument ${missing} is missing`);
      return resultOf(await run(ctx, operation, { params, query }));
    },
  });
}

const config = {
  type: 'object',
  description: 'The complete configuration. `***` in place of a secret keeps the current value.',
};

function proposeTool({ check, diff }: ChangeOperations): AdminTool {
  return tool('check', {
    name: 'proposeConfig',
    description:
      'Checks a configuration and compares it with the active one. Changes nothing; pass its etag to applyConfig.',
    properties: { config },
    required: ['config'],
    isReadOnly: true,
    async call({ config: given }, { ctx, admin, run }) {
      if (!isObject(given)) return failure('the argument config must be an object');
      const body = JSON.stringify(given);
      const etag = currentEtag(admin.gateway);
      const difference = await run(ctx, diff, { body, query: new URLSearchParams({ level: 'full' }) });
      if (difference.status >= 400) return resultOf(difference);
      const checked = await run(ctx, check, { body, query: new URLSearchParams({ audit: 'true' }) });
      if (checked.status >= 400) return resultOf(checked);
      const text = `{"etag":${JSON.stringify(etag)},"check":${checked.text},"difference":${difference.text}}`;
      return resultOf({ status: 200, text });
    },
  });
}

function applyTool({ put }: ChangeOperations): AdminTool {
  return tool('write', {
    name: 'applyConfig',
    description: 'Replaces the active configuration with one returned by proposeConfig.',
    properties: {
      config,
      etag: {
        type: 'string',
        description:
          'ETag returned by proposeConfig. Nothing is applied if another configuration has become active in the meantime.',
      },
      message: { type: 'string', description: 'Message recorded in the history.' },
    },
    required: ['config', 'etag'],
    isReadOnly: false,
    async call({ config: given, etag, message = '' }, { ctx, run }) {
      if (!isObject(given)) return failure('the argument config must be an object');
      if (typeof etag !== 'string' || !/^"[\w-]+"$/.test(etag))
        return failure('the argument etag must be the ETag that proposeConfig returned');
      if (typeof message !== 'string') return failure('the argument message must be a text');
      const query = new URLSearchParams(message === '' ? {} : { message });
      return resultOf(await run(ctx, put, { body: JSON.stringify(given), query, headers: { 'if-match': etag } }));
    },
  });
}

interface Described {
  readonly name: string;
  readonly description: string;
  readonly properties: object;
  readonly required: readonly string[];
  readonly isReadOnly: boolean;
  call(args: DataObject, context: AdminContext): Promise<DataObject>;
}

function tool(scope: AdminScope, described: Described): AdminTool {
  const { name, description, properties, required, isReadOnly, call } = described;
  return {
    scope,
    mirrored: [],
    call,
    description: {
      name,
      title: name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
      description,
      inputSchema: {
        type: 'object',
        properties: properties as DataObject,
        ...(required.length > 0 && { required: [...required] }),
        additionalProperties: false,
      },
      annotations: {
        readOnlyHint: isReadOnly,
        destructiveHint: !isReadOnly,
        idempotentHint: isReadOnly,
        openWorldHint: false,
      },
    },
  };
}

function failure(text: string): DataObject {
  return { content: [{ type: 'text', text }], isError: true };
}

function resultOf({ status, text }: Outcome): DataObject {
  if (status >= 400) return failure(text);
  const isLong = text.length > MAX_TEXT;
  const shown = isLong
    ? `${text.slice(0, MAX_TEXT)}\n... truncated after ${MAX_TEXT} characters: request a smaller part`
    : text;
  return { content: [{ type: 'text', text: shown }] };
}
