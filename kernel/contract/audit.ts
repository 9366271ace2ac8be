import type { DataObject } from '../values/data.ts';
import type { EndpointConfig, ServiceConfig } from './config.ts';
import type { Level, Namespace } from './extra-config.ts';

/** A component with its location in the configuration. Its settings are not validated yet. */
export interface AuditedComponent {
  readonly namespace: Namespace;
  readonly level: Level;
  /** JSON pointer, with current names. */
  readonly pointer: string;
  readonly settings: Readonly<DataObject>;
}

/** A part of the configuration and its pointer, with current names. */
export interface AuditedSection<T> {
  readonly config: T;
  readonly pointer: string;
}

/** Access of the audit to files that the configuration names. */
export interface AuditedFiles {
  /** Content of a file; undefined if it cannot be read. */
  text(path: string): string | undefined;
  /** True if accounts other than the owner and the group can write to the file. */
  isOpen(path: string): boolean;
}

/** Input of audit rules. */
export interface AuditSubject {
  readonly config: ServiceConfig;
  /** Root fields by name, including fields that the gateway does not support. */
  readonly root: Readonly<DataObject>;
  readonly endpoints: readonly AuditedSection<EndpointConfig>[];
  readonly agents: readonly AuditedSection<DataObject>[];
  /** Number of backends of endpoints and agents. */
  readonly backendCount: number;
  readonly components: readonly AuditedComponent[];
  /** Components as written in the document, before old forms are converted, with their pointers in the document. */
  readonly written: readonly AuditedComponent[];
  readonly files: AuditedFiles;
  /** Pointers of secrets stored as plain text. */
  secrets(): readonly string[];
  /** Pointers of endpoints without access control that serve protected paths written with a path parameter. */
  openNeighbors(): readonly string[];
}

/** Severities, most severe first. */
export const severities = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW'] as const;

export type Severity = (typeof severities)[number];

/** An audit rule of `Plugin.audit`, in addition to the built-in rules. */
export interface AuditRule {
  /** Unique ID: chapter, section and number, or the namespace and a word for third-party plugins. Never reused. */
  readonly id: string;
  readonly severity: Severity;
  /** Recommendation, in one sentence. */
  readonly message: string;
  /** Components that the message recommends. The rule is skipped if the gateway has none of them. */
  readonly recommends?: readonly Namespace[];
  /** More specific rules: if one of them reports the same place, this one does not. */
  readonly yieldsTo?: readonly string[];
  /** Whether `find` reads `written`, and therefore returns pointers into the document. */
  readonly ofDocument?: true;
  /** The finding depends on more than the configuration: it is reported without failing the audit. */
  readonly isNote?: true;
  /** Returns the pointers, with current names, of everything that violates the rule; empty if nothing does. */
  readonly find: (audited: AuditSubject) => readonly string[];
}
