import type { Compatibility, Namespace, Plugin } from '#contract';
import { oldNamesOf } from '../../kernel/config/compatibility/old-names.ts';
import type { JsonSchema } from '../../kernel/config/index.ts';
import { type CompleteSchema, definitionKey } from '../../kernel/pipeline/complete-schema.ts';
import type { Registry } from '../../kernel/registry/registry.ts';
import { endpoint, service, withComponent, withDiscovery } from './examples.ts';
import { anchor, code, link, table } from './markdown.ts';
import { phasesOf } from './order.ts';
import type { Topic } from './topic.ts';

/** Pages of the manifest: one per namespace. */
export function componentTopics({ definitions }: CompleteSchema, registry: Registry): Topic[] {
  return registry.namespaces.map((namespace) => {
    const plugin = registry.plugin(namespace)!;
    const forms = (plugin.places ?? []).map(({ at }) => ({ at, schema: definitions[definitionKey(at, namespace)]! }));
    return {
      name: namespace,
      description: plugin.description,
      notes: [
        ...placeNotes(namespace, plugin),
        ...orderNotes(plugin, registry),
        ...oldNotes(namespace, registry.compatibility),
      ],
      objects: forms.map(({ at, schema }) => ({ heading: `At ${at} level`, schema })),
      examples: [
        ...forms.map(({ at, schema }) => ({
          heading: `At ${at} level`,
          document: withComponent(
            at,
            namespace,
            exampleOf(schema, `${namespace} at ${at} level`),
            at === 'service' ? requiredBy(plugin, definitions) : {},
          ),
        })),
        ...(plugin.encodings ?? []).map(({ name }) => ({ heading: name, document: withEncoding(name, registry) })),
        ...(plugin.discoveries ?? []).map(({ name }) => ({ heading: name, document: withDiscovery(name) })),
      ],
    };
  });
}

/** Components that a plugin requires, configured as in their own examples. */
function requiredBy({ requires = [], expects = [] }: Plugin, definitions: CompleteSchema['definitions']) {
  return Object.fromEntries(
    [...requires, ...expects].map((other) => [other, exampleOf(definitions[definitionKey('service', other)]!, other)]),
  );
}

function exampleOf(schema: JsonSchema, of: string): unknown {
  const [example] = (schema['examples'] ?? []) as unknown[];
  if (example === undefined) throw new Error(`the schema of ${of} has no example: give it "examples"`);
  return example;
}

/** Examples of the encoding in every place that accepts one. */
function withEncoding(name: string, registry: Registry) {
  const { decode, encode, raw } = registry.encoding(name)!;
  const writes = raw || encode ? { output_encoding: name } : {};
  return service({}, endpoint(writes, decode ? { encoding: name } : {}));
}

function placeNotes(namespace: Namespace, { places = [], encodings = [], discoveries = [] }: Plugin): string[] {
  const holder = { service: 'root', endpoint: 'endpoint', backend: 'backend', agent: 'agent' } as const;
  const page = `${namespace}.md`;
  const holders = places.map(
    ({ at }) => `the ${link(holder[at], at === 'agent' ? 'root.md' : `${holder[at]}.md`, page)}`,
  );
  const backend = link('backend', 'backend.md', page);
  return [
    ...(holders.length > 0 ? [`Allowed in ${code('extra_config')} of ${holders.join(' and of ')}.`] : []),
    ...encodings.map(({ decode, encode, raw }) => {
      const uses = [
        ...(decode ? [`${code('encoding')} of a ${backend}`] : []),
        ...(raw || encode
          ? [
              `${code('output_encoding')} at the ${link('root', 'root.md', page)} or on an ${link('endpoint', 'endpoint.md', page)}`,
            ]
          : []),
      ];
      return `A value of ${uses.join(' and of ')}; it has no fields of its own.`;
    }),
    ...discoveries.map(() => `A value of ${code('sd')} of a ${backend}; it has no fields of its own.`),
  ];
}

/** Every phase in which the plugin takes part, with the components right outside and inside of it. */
function orderNotes({ name }: Plugin, registry: Registry): string[] {
  const page = `${name}.md`;
  const linked = (other: string | undefined) => (other === undefined ? '' : link(other, `${other}.md`, page));
  const rows = phasesOf(registry)
    .filter(({ names }) => names.includes(name))
    .map(({ phase, names }) => {
      const at = names.indexOf(name);
      const place = link(phase, `order.md#${anchor(phase)}`, page);
      return [place, linked(names[at - 1]), `**${name}**`, linked(names[at + 1])];
    });
  if (rows.length === 0) return [];
  return ['## Run order', table(['Phase', 'Runs inside of', 'Component', 'Runs outside of'], rows)];
}

function oldNotes(namespace: Namespace, compatibility: Compatibility): string[] {
  const names = oldNamesOf(namespace, compatibility).map((name) => code(`github.com/${name}`));
  return names.length > 0 ? [`Old name, also with ${code('github_com')}: ${names.join(', ')}.`] : [];
}
