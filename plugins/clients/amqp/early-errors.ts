import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A connection of the library, missing from its types. */
interface LibraryConnection extends NodeJS.EventEmitter {
  heartbeater?: { clear(): void } | null;
  open(fields: unknown, opened: (error: Error | null, ok?: unknown) => void): void;
}

/**
 * Makes opening a connection fail on errors that a broker sends directly after its handshake. The library reads them
 * before a listener can be attached: the error would be uncaught, and opening would never settle.
 */
export function failByEarlyErrors(): void {
  if (isDone) return;
  isDone = true;
  const require = createRequire(import.meta.url);
  const file = join(dirname(require.resolve('amqplib')), 'lib/connection.js');
  const { prototype } = (require(file) as { Connection: { prototype: LibraryConnection } }).Connection;
  const { open } = prototype;
  prototype.open = function (this: LibraryConnection, fields, opened) {
    let early: Error | null = null;
    this.on('error', (error: Error) => {
      early ??= error;
    });
    open.call(this, fields, (error, ok) => {
      if (early) this.heartbeater?.clear();
      opened(error ?? early, ok);
    });
  };
}

let isDone = false;
