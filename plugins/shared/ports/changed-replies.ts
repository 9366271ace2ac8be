import { definePort, type PipeRequest, type Port, type Reply } from '#contract';

/** Applies a component's changes to a backend reply. May be called for a reply that is not sent to any client. */
export type ChangeReply = (reply: Reply, request: PipeRequest) => void;

/**
 * Reply changes of components that run outside of a cache and modify headers: cache lifetime is computed from the
 * changed headers, while the reply is stored unchanged and changed anew on each use.
 */
export const changedReplies: Port<ChangeReply> = definePort('changed replies');
