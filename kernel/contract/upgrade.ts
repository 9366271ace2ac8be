import type { Duplex } from 'node:stream';

/** What becomes of a client's connection once the client has been told that it goes on in another protocol. */
export interface Upgrade {
  /**
   * Takes the connection, which is closed by whoever takes it; its errors are listened for already.
   * @param head bytes that came behind the request.
   */
  take(connection: Duplex, head: Buffer): void;
  /**
   * Its endpoint has changed, or the gateway closes: ends the connection as its protocol does. Called once at most; what is
   * left five seconds later is cut. Default: nothing more is sent.
   */
  end?(): void;
}
