import type { ChannelCredentials } from '@grpc/grpc-js';

/**
 * Credentials whose channels open no connection after they are closed. A closed channel still completes the reconnection
 * for which it was waiting, and keeps that connection open for as long as the collector does.
 * @param credentials modified in place.
 */
export function endingWithChannel(credentials: ChannelCredentials): ChannelCredentials {
  const create = credentials._createSecureConnector.bind(credentials);
  credentials._createSecureConnector = (...given) => {
    const connector = create(...given);
    const { waitForReady, destroy } = connector;
    let isClosed = false;
    return Object.assign(connector, {
      // gRPC awaits this function before each attempt to connect.
      waitForReady: () => (isClosed ? Promise.reject(new Error('closed')) : waitForReady.call(connector)),
      destroy() {
        isClosed = true;
        destroy.call(connector);
      },
    });
  };
  return credentials;
}
