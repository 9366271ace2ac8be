import { registerHooks } from 'node:module';

/** Modules that plugin authors import, as files of this gateway, from its source or package. */
export const ownModules: Readonly<Record<string, string>> = {
  sluice: new URL(`../../sluice${import.meta.url.slice(-3)}`, import.meta.url).href,
  'sluice/plugin': import.meta.resolve('#contract'),
  'sluice/testing': new URL(`../../testing/index${import.meta.url.slice(-3)}`, import.meta.url).href,
};

/** Resolves imports of these modules in this process to this gateway, so that a plain folder needs no installation. */
export function resolveOwnModules(): void {
  registerHooks({
    resolve: (name, context, next) => {
      const url = Object.hasOwn(ownModules, name) ? ownModules[name]! : null;
      return url === null ? next(name, context) : next(url, context);
    },
  });
}
