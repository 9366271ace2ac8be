import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCE, type SiteDocument } from './document.ts';

/** Pages of the repository outside the guides: file, path in the site, section. */
const files = [
  ['README.md', 'index', 'Start'],
  ['samples/README.md', 'guides/index', 'Guides'],
  ['CONTRIBUTING.md', 'project/contributing', 'Project'],
  ['scripts/bench/README.md', 'project/benchmarks', 'Project'],
  ['CHANGELOG.md', 'project/changelog', 'Project'],
] as const;

/** Pages of the reference that are about the whole gateway, in the order in which they are read. */
const operation = ['index', 'cli', 'errors', 'logs', 'metrics', 'admin/operations', 'order', 'bounds'];
const file = ['root', 'endpoint', 'backend', 'router', 'tls', 'encodings'];

/** All pages, in the order of the navigation. @param reference Markdown by path, as of `makePages`. */
export function siteDocuments(root: string, reference: ReadonlyMap<string, string>): SiteDocument[] {
  const [readme, guides, ...project] = files.map(([source, path, section]) => fromFile(root, source, path, section));
  const names = [...reference.keys()].map((path) => path.replace(/\.md$/, ''));
  const components = names
    .filter((name) => !operation.includes(name) && !file.includes(name))
    .sort((one, other) => Number(one.includes('/')) - Number(other.includes('/')) || (one < other ? -1 : 1));
  return [
    readme!,
    guides!,
    ...guideFiles(root).map((source) => fromFile(root, source, guidePath(source), 'Guides')),
    ...operation.map((name) => fromReference(reference, name, 'Reference')),
    ...file.map((name) => fromReference(reference, name, 'Configuration file')),
    ...components.map((name) => fromReference(reference, name, sectionOf(name))),
    ...project,
  ];
}

/** The guide of each sample, the quickstart first, with the pages that belong to it. */
function guideFiles(root: string): string[] {
  const folders = readdirSync(join(root, 'samples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort((one, other) => Number(other === 'quickstart') - Number(one === 'quickstart') || (one < other ? -1 : 1));
  return folders.flatMap((folder) => {
    const pages = readdirSync(join(root, 'samples', folder)).filter((name) => name.endsWith('.md'));
    const others = pages.filter((name) => name !== 'README.md').sort();
    return ['README.md', ...others].map((name) => `samples/${folder}/${name}`);
  });
}

/** `samples/tokens/README.md` is `guides/tokens`, `samples/plugins/seams.md` is `guides/plugins/seams`. */
function guidePath(source: string): string {
  return source.replace(/^samples\//, 'guides/').replace(/(?:\/README)?\.md$/, '');
}

function fromFile(root: string, source: string, path: string, section: string): SiteDocument {
  const text = readFileSync(join(root, source), 'utf8');
  return { path, title: titleOf(text), section, text, source, origin: source };
}

function fromReference(reference: ReadonlyMap<string, string>, name: string, section: string): SiteDocument {
  const text = reference.get(`${name}.md`)!;
  const source = 'scripts/docs/pages.ts';
  return { path: `reference/${name}`, title: titleOf(text), section, text, source, origin: `${REFERENCE}${name}.md` };
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)![1]!;
}

function sectionOf(name: string): string {
  return name.includes('/') ? `${name.split('/', 1)[0]}/` : 'Components';
}
