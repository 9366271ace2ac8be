export { mcpErrors, parsedMessage, type RequestId } from './message.ts';
export { type MirroredParameter, mirroredHeaders, mirroredParameters } from './mirrored-parameters.ts';
export { type ReplyForm, replyForm, replyHeaders, writtenMessage } from './reply-form.ts';
export { refuseText, respondToMcp } from './respond.ts';
export { refuseSession } from './respond-with-handshake.ts';
export type { McpCaller, McpReply, McpRequest, McpServer, McpSessions, McpTool } from './server.ts';
export { handshakeVersions, metaKeys, oldestVersion, statelessVersions } from './versions.ts';
