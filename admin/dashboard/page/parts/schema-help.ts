import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorState, Extension } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';

/** The keywords of JSON Schema that the schema of the configuration uses. */
interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

type Node = ReturnType<typeof syntaxTree>['topNode'];

/** Completion of names and values in a JSON text, and descriptions of its fields on hover. */
export function schemaHelp(schema: object): Extension {
  const root = schema as Schema;
  return [
    autocompletion({ override: [(context) => complete(root, context)] }),
    hoverTooltip((view, position) => {
      const node = syntaxTree(view.state).resolveInner(position, -1);
      if (node.name !== 'PropertyName') return null;
      const [field] = schemasAt(root, [...pathOf(view.state, node), nameOf(view.state, node)]);
      if (field?.description === undefined) return null;
      const { description } = field;
      return {
        pos: node.from,
        end: node.to,
        create() {
          const dom = document.createElement('div');
          dom.textContent = withDefault(description, field);
          return { dom };
        },
      };
    }),
  ];
}

function withDefault(description: string, { default: value }: Schema): string {
  return value === undefined ? description : `${description} Default: ${JSON.stringify(value)}.`;
}

function complete(root: Schema, context: CompletionContext): CompletionResult | null {
  const { state, pos } = context;
  const node = syntaxTree(state).resolveInner(pos, -1);
  if (node.name === 'PropertyName') return namesAt(root, state, node, node.from, pos);
  if (node.name === 'Object' && context.explicit) return namesAt(root, state, node, pos, pos);
  const property = node.parent?.name === 'Property' ? node.parent : null;
  if (!property || (node.name !== 'String' && node.name !== 'Property')) return null;
  const schemas = schemasAt(root, pathOf(state, node));
  const values = schemas.flatMap(({ enum: words = [], type }) => (type === 'boolean' ? [true, false] : words));
  if (values.length === 0) return null;
  const from = node.name === 'String' ? node.from : pos;
  return {
    from,
    to: node.name === 'String' ? node.to : pos,
    options: values.map((value) => ({ label: JSON.stringify(value) })),
  };
}

/** Names of fields that the object around a node may have. */
function namesAt(root: Schema, state: EditorState, node: Node, from: number, to: number): CompletionResult | null {
  const options = schemasAt(root, pathOf(state, node)).flatMap(({ properties = {} }) =>
    Object.entries(properties).map(([name, field]) => {
      const { description } = resolve(root, field);
      return { label: JSON.stringify(name), ...(description !== undefined && { info: description }) };
    }),
  );
  return options.length === 0 ? null : { from, to, options, validFor: /^"[\w./-]*"?$/ };
}

/** Names and indexes that lead to the value, or the object, around a node. */
function pathOf(state: EditorState, start: Node): (string | number)[] {
  const path: (string | number)[] = [];
  for (let node: Node | null = start; node; node = node.parent) {
    const parent: Node | null = node.parent;
    if (parent?.name === 'Property' && node.name !== 'PropertyName') {
      const name = parent.getChild('PropertyName');
      if (name) path.unshift(nameOf(state, name));
    } else if (parent?.name === 'Array') path.unshift(0);
  }
  return path;
}

function nameOf(state: EditorState, node: Node): string {
  try {
    return String(JSON.parse(state.sliceDoc(node.from, node.to)));
  } catch {
    return '';
  }
}

/** All schemas that apply to the value at a path. */
function schemasAt(root: Schema, path: readonly (string | number)[]): readonly Schema[] {
  let schemas = alternatives(root, root);
  for (const step of path)
    schemas = schemas.flatMap((schema) => below(schema, step)).flatMap((one) => alternatives(root, one));
  return schemas;
}

function below(
  { properties = {}, patternProperties = {}, additionalProperties, items }: Schema,
  step: string | number,
): Schema[] {
  if (typeof step === 'number') return items ? [items] : [];
  if (Object.hasOwn(properties, step)) return [properties[step]!];
  const matching = Object.entries(patternProperties).filter(([pattern]) => new RegExp(pattern, 'u').test(step));
  if (matching.length > 0) return matching.map(([, schema]) => schema);
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}

/** A schema and those that it is composed of. */
function alternatives(root: Schema, given: Schema, depth = 0): Schema[] {
  const schema = resolve(root, given);
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return depth > 4 ? [schema] : [schema, ...parts.flatMap((part) => alternatives(root, part, depth + 1))];
}

function resolve(root: Schema, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const steps = schema.$ref.replace(/^#\/?/, '').split('/').filter(Boolean);
  let target: unknown = root;
  for (const step of steps) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    target = Object.hasOwn(target as object, name) ? (target as Record<string, unknown>)[name] : {};
  }
  const { $ref, ...own } = schema;
  return { ...(target as Schema), ...own };
}
