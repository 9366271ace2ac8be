import { readFileSync } from 'node:fs';
import ts from 'typescript';
import type { JsonSchema } from '../../../kernel/config/index.ts';
import type { CompleteSchema } from '../../../kernel/pipeline/complete-schema.ts';
import { definitionKey } from '../../../kernel/pipeline/complete-schema.ts';
import { service } from '../examples.ts';
import { code, jsonBlock, plain, table, value } from '../markdown.ts';
import { adminBounds } from './admin.ts';
import { backendBounds } from './backend.ts';
import type { Bound, Side } from './bound.ts';
import { brokerBounds } from './broker.ts';
import { clientBounds } from './client.ts';
import { connectionBounds } from './connection.ts';
import { observationBounds } from './observation.ts';
import { pluginBounds } from './plugin.ts';
import { recorderBounds } from './recorder.ts';
import { shadowBounds } from './shadow.ts';

/** All resources that clients, backends, brokers and plugins can fill, by party. */
export const bounds: Readonly<Record<Side, readonly Bound[]>> = {
  client: [...connectionBounds, ...clientBounds, ...shadowBounds, ...observationBounds, ...adminBounds],
  backend: [...backendBounds, ...recorderBounds],
  broker: brokerBounds,
  plugin: pluginBounds,
};

const headings: Readonly<Record<Side, string>> = {
  client: 'Filled by clients',
  backend: 'Filled by backends and other servers',
  broker: 'Filled by message brokers and Redis',
  plugin: 'Filled by plugins, scripts and templates',
};

const example = service({
  max_connections: 2000,
  max_requests_per_connection: 10_000,
  max_header_bytes: 16_384,
  read_header_timeout: '5s',
  idle_timeout: '75s',
  send_timeout: '30s',
  dialer_timeout: '2s',
});

/** Reference page of all limits, as Markdown. @throws Error for a constant or field that does not exist. */
export function boundsPage(schema: CompleteSchema): string {
  const segments = [
    '# Bounds',
    'Limits of everything in memory that clients, backends, brokers and plugins can fill. Limits without a setting are fixed. Each row has a test that fills it.',
  ];
  segments.push('## Example', 'Tighter limits for a gateway with little memory:', jsonBlock(example));
  for (const [side, rows] of Object.entries(bounds)) {
    const cells = rows.map((bound) => {
      const { holds, setting, beyond } = bound;
      const shown = setting === undefined ? '' : `${code(setting)}, default ${defaultOf(bound, schema)}`;
      return [holds, plain(limitOf(bound)), shown, beyond];
    });
    segments.push(
      `## ${headings[side as Side]}`,
      table(['Buffer, queue, cache or map', 'Limit', 'Setting', 'At the limit'], cells),
    );
  }
  return `${segments.join('\n\n')}\n`;
}

/** The limit with the values of its constants, as in `64 MiB, 10,000 messages`. @throws Error for an unknown constant. */
export function limitOf({ limit, from }: Bound): string {
  return limit.replace(/\{(\w+)(?::(\w+))?\}/g, (_text, name: string, unit: string | undefined) => {
    const number = constantOf(from ?? '', name);
    if (unit === 'bytes' || name.endsWith('BYTES')) return inBytes(number);
    return name.endsWith('_MS') ? inSeconds(number) : number.toLocaleString('en-US');
  });
}

/** Default of the field that sets a limit. @throws Error for an unknown field, and for one without a default. */
export function defaultOf({ setting = '', default: stated }: Bound, schema: CompleteSchema): string {
  const field = fieldOf(setting, schema);
  if (!field) throw new Error(`unknown field "${setting}"`);
  const shown = stated ?? value(field['default']);
  if (shown === '') throw new Error(`the default of "${setting}" is not stated`);
  return shown;
}

/** @param setting as in `root: port` and `endpoint: websocket: quotas[].name`. */
function fieldOf(setting: string, schema: CompleteSchema): JsonSchema | undefined {
  const [level = '', ...names] = setting.split(': ');
  const path = names.pop() ?? '';
  const holder = level === 'root' ? schema : schema.definitions[definitionKey(level as 'service', names[0] ?? '')];
  return path.split('.').reduce<JsonSchema | undefined>((at, step) => {
    const [, name, isList] = /^(\w+)(\[\])?$/.exec(step) ?? [];
    const field = (at?.['properties'] as Record<string, JsonSchema> | undefined)?.[name ?? ''];
    return isList ? (field?.['items'] as JsonSchema | undefined) : field;
  }, holder);
}

/** Value of a numeric constant in a file. @throws Error when it is not a number. */
function constantOf(file: string, name: string): number {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const declarations = source.statements
    .filter(ts.isVariableStatement)
    .flatMap((each) => each.declarationList.declarations);
  const initializer = declarations.find((each) => each.name.getText() === name)?.initializer;
  if (!initializer) throw new Error(`${file} has no constant ${name}`);
  return numberOf(initializer);
}

function numberOf(node: ts.Expression): number {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isBinaryExpression(node)) {
    const [left, right] = [numberOf(node.left), numberOf(node.right)];
    return node.operatorToken.kind === ts.SyntaxKind.AsteriskAsteriskToken ? left ** right : left * right;
  }
  throw new Error(`${node.getText()} is not a product of numbers`);
}

function inBytes(count: number): string {
  if (count >= 1024 * 1024) return `${count / (1024 * 1024)} MiB`;
  return count >= 1024 ? `${count / 1024} KiB` : `${count} bytes`;
}

function inSeconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} seconds`;
}
