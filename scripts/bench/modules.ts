import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const source = `
export const plugin = {
  name: 'empty',
  apiVersion: 1,
  middleware: () => (ctx, request, next) => next(request),
  requestModifier: () => () => {},
  responseModifier: () => () => {},
  httpClient: (config, host) => host.defaultClient,
  httpServer: () => (request, next) => next(request),
};
`;

/** Creates a folder with a module whose handlers do nothing. */
export function emptyModule(folder: string): string {
  const modules = join(folder, 'modules/');
  mkdirSync(modules, { recursive: true });
  writeFileSync(join(modules, 'empty.js'), source);
  return modules;
}
