import type { Level } from '#contract';
import type { JsonSchema } from '../../kernel/config/index.ts';
import { type CompleteSchema, definitionKey } from '../../kernel/pipeline/complete-schema.ts';
import type { Registry } from '../../kernel/registry/registry.ts';
import { endpoint, service, withComponent } from './examples.ts';
import { code, link, plain, table } from './markdown.ts';
import type { Topic } from './topic.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Pages of the settings outside components. */
export function coreTopics(complete: CompleteSchema, registry: Registry): Topic[] {
  const root = complete['properties'] as Schemas;
  const endpoints = (root['endpoints']!['items'] as JsonSchema)!;
  const fields = endpoints['properties'] as Schemas;
  const backend = fields['backend']!['items'] as JsonSchema;
  const router = complete.definitions[definitionKey('service', 'router')]!;
  const { tls, client_tls: clientTls } = root as { tls: JsonSchema; client_tls: JsonSchema };
  return [
    {
      name: 'root',
      description: String(complete['description']),
      notes: ['The whole document.'],
      objects: [
        {
          heading: 'Fields',
          schema: complete,
          elsewhere: {
            endpoints: see('endpoint'),
            tls: see('tls'),
            client_tls: see('tls'),
            extra_config: componentsAt('service', registry, ['router']),
          },
        },
      ],
      examples: [{ heading: 'root', document: firstExample(complete) }],
    },
    {
      name: 'endpoint',
      description: String(endpoints['description']),
      notes: [`Belongs in ${code('endpoints')} of the [root](root.md).`],
      objects: [
        {
          heading: 'endpoint',
          schema: endpoints,
          elsewhere: { backend: see('backend'), extra_config: componentsAt('endpoint', registry) },
        },
      ],
      examples: [{ heading: 'endpoint', document: service({}, firstExample(endpoints)) }],
    },
    {
      name: 'backend',
      description: String(backend['description']),
      notes: [`Belongs in ${code('backend')} of an [endpoint](endpoint.md).`],
      objects: [
        { heading: 'backend', schema: backend, elsewhere: { extra_config: componentsAt('backend', registry) } },
      ],
      examples: [
        {
          heading: 'backend',
          document: service({}, { endpoint: '/users/{id}', backend: [firstExample(backend)] }),
        },
      ],
    },
    {
      name: 'router',
      description: String(router['description']),
      notes: [`Belongs in ${code('extra_config')} of the [root](root.md).`],
      objects: [{ heading: 'router', schema: router }],
      examples: [{ heading: 'router', document: withComponent('service', 'router', firstExample(router)) }],
    },
    {
      name: 'tls',
      description: 'TLS settings for client connections and backend connections.',
      notes: [
        `Both objects belong at the [root](root.md); ${code('client_tls')} is also allowed in backend/http/client.`,
      ],
      objects: [
        { heading: 'tls', schema: tls },
        { heading: 'client_tls', schema: clientTls },
      ],
      examples: [
        { heading: 'tls', document: service({ tls: firstExample(tls) }) },
        { heading: 'client_tls', document: service({ client_tls: firstExample(clientTls) }) },
      ],
    },
    {
      name: 'encodings',
      description: 'Formats in which backend bodies are read and responses are written.',
      notes: [encodingTable(registry)],
      objects: [],
      examples: [
        { heading: 'encodings', document: service({}, endpoint({ output_encoding: 'yaml' }, { encoding: 'xml' })) },
      ],
    },
  ];
}

function see(name: string): string {
  return `See ${link(name, `${name}.md`, 'root.md')}.`;
}

function firstExample(schema: JsonSchema): Record<string, unknown> {
  const [example] = (schema['examples'] ?? []) as Record<string, unknown>[];
  if (!example) throw new Error(`the schema "${schema['title']}" has no example`);
  return example;
}

/** Links to all components allowed at a level. */
function componentsAt(level: Level, registry: Registry, own: readonly string[] = []): string {
  const names = registry.namespaces.filter((namespace) => registry.place(namespace, level));
  return [...own, ...names].map((name) => link(name, `${name}.md`, 'root.md')).join(', ');
}

function encodingTable(registry: Registry): string {
  const rows = registry.names('encoding').map((name) => {
    const { description } = registry.plugin(`encoding/${name}`)!;
    const { decode, encode, raw } = registry.encoding(name)!;
    const mark = (able: unknown) => (able ? 'yes' : '');
    const page = link(name, `encoding/${name}.md`, 'encodings.md');
    return [page, mark(decode), mark(raw || encode), plain(description)];
  });
  return table(['Name', `As ${code('encoding')}`, `As ${code('output_encoding')}`, 'What it does'], rows);
}
