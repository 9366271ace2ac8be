import type { Severity } from './schema.ts';

/** A group of patterns that applies unless it is deselected. */
export interface DefaultGuard {
  readonly name: string;
  readonly severity: Severity;
  /** The attacks that the patterns find, for the reference. */
  readonly finds: string;
  readonly patterns: readonly string[];
}

/** Pattern for up to `most` words between two parts of a phrase. */
const words = (most: number) => `\\s+(?:[\\w'-]+\\s+){0,${most}}`;

/** Pattern of the words that name the content of a system prompt, such as "instructions". */
const orders = '(?:instructions?|prompts?|rules?|directions|directives|guidelines|commands|programming)';

/**
 * The default guards. Patterns are matched against the decoded text in all letter cases. Each describes a phrase with
 * its object, because single words such as "ignore" are common in harmless prompts.
 */
export const defaultGuards: readonly DefaultGuard[] = [
  {
    name: 'instruction_override',
    severity: 'critical',
    finds: 'Orders to ignore or replace the instructions of the model.',
    patterns: [
      `\\b(?:ignore|disregard|forget|override|overwrite|bypass|discard|neglect)${words(2)}(?:previous|prior|preceding|above|earlier|foregoing|initial|original|existing|system)\\s+(?:[\\w'-]+\\s+)?${orders}\\b`,
      `\\b(?:ignore|disregard|forget)\\s+(?:all|everything)\\s+(?:of\\s+)?(?:your|the|my)?\\s*(?:${orders}|(?:you\\s+were|you've\\s+been|i|we)\\s+(?:told|said|taught|instructed))\\b`,
      `\\b(?:ignore|disregard|forget)\\s+(?:your|all\\s+your)\\s+(?:[\\w'-]+\\s+){0,2}${orders}\\b`,
      '\\b(?:ignoriere|vergiss)\\s+(?:alle\\s+)?(?:bisherigen|vorherigen|obigen|vorigen|deine)\\s+(?:anweisungen|regeln|instruktionen|befehle)\\b',
      '\\b(?:ignora|olvida)\\s+(?:todas?\\s+)?(?:las\\s+)?(?:instrucciones|reglas)\\s+(?:anteriores|previas)',
      '\\b(?:ignore[zr]?|oublie[zr]?)\\s+(?:toutes\\s+)?(?:les\\s+)?(?:instructions|consignes|r.gles)\\s+(?:pr.c.dentes|ant.rieures)',
    ],
  },
  {
    name: 'chat_template_injection',
    severity: 'critical',
    finds: 'Control tokens of chat templates, which open a turn with another role.',
    patterns: [
      '<\\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text)\\|>',
      '\\[/?INST\\]|<</?SYS>>|<(?:start|end)_of_turn>',
    ],
  },
  {
    name: 'unicode_steganography',
    severity: 'critical',
    finds: 'Invisible characters that hide text: tags, zero-width sequences, variation selectors and reordering marks.',
    patterns: [
      '[\\x{E0000}-\\x{E007F}]{9,}',
      '[\\x{200B}\\x{200C}\\x{2060}-\\x{2064}\\x{FEFF}]{8,}',
      '[\\x{E0100}-\\x{E01EF}]{3,}',
      '[\\x{202D}\\x{202E}]',
    ],
  },
  {
    name: 'system_prompt_extraction',
    severity: 'high',
    finds: 'Requests to reveal the system prompt.',
    patterns: [
      `\\b(?:reveal|show|print|repeat|output|display|dump|leak|recite|disclose|give|tell|send|expose)${words(3)}(?:system|hidden|initial|original|secret|internal|confidential)\\s+(?:prompts?|instructions?|directives?|messages?\\s+above)\\b`,
      "\\b(?:repeat|print|output|recite|copy)\\s+(?:[\\w'-]+\\s+){0,3}(?:words|text|everything|sentences)\\s+above\\b",
      `\\bwhat\\s+(?:are|is|was|were)\\s+your\\s+(?:system|hidden|initial|original|exact)\\s+${orders}`,
    ],
  },
  {
    name: 'jailbreak_persona',
    severity: 'high',
    finds: 'Personas without rules, such as "DAN" and developer modes.',
    patterns: [
      '\\bdo\\s+anything\\s+now\\b',
      "\\b(?:you\\s+are|act\\s+as|become|pretend\\s+(?:to\\s+be|you\\s+are)|you\\s+will\\s+be)\\s+(?:now\\s+|going\\s+to\\s+be\\s+)?(?:an?\\s+|the\\s+)?(?:[\\w'-]+\\s+){0,2}(?:jailbroken|unrestricted|unfiltered|uncensored|unaligned|amoral|evil)\\b",
      "\\b(?:enable|enter|activate|switch\\s+to|you\\s+are\\s+in)\\s+(?:[\\w'-]+\\s+){0,2}(?:developer|debug|god|jailbreak|dan|sudo|unrestricted)\\s+mode\\b",
      "\\b(?:you|that)\\s+(?:[\\w'-]+\\s+){0,3}(?:no\\s+longer|not)\\s+(?:[\\w'-]+\\s+){0,2}(?:bound|restricted|limited|constrained)\\s+by\\b",
      "\\b(?:dan|stan|dude)\\s+(?:can|will|has|is)\\s+(?:[\\w'-]+\\s+){0,3}(?:anything|no\\s+(?:limits|restrictions|rules)|broken\\s+free)",
    ],
  },
  {
    name: 'data_exfiltration',
    severity: 'high',
    finds: 'Orders to send conversations or secrets to an address, also through images.',
    patterns: [
      `\\b(?:send|post|upload|forward|exfiltrate|transmit|leak)\\b[^.!?\\n]*\\b(?:conversation|chat\\s+history|credentials?|secrets?|passwords?|api\\s*keys?|tokens?|context|system\\s+prompt)\\b[^.!?\\n]*\\bto\\s[^.!?\\n]*(?:https?://|[\\w.+-]+@[\\w-]+\\.|\\[EMAIL_)`,
      '!\\[[^\\]]{0,200}\\]\\(https?://[^)\\s]{1,200}[?&][\\w-]{1,40}=(?:\\{|\\[|<|\\$|%7B)',
      "\\b(?:render|include|append|insert|embed)\\s+(?:[\\w'-]+\\s+){0,4}(?:markdown\\s+)?image\\s+(?:[\\w'-]+\\s+){0,8}(?:conversation|history|secrets?|context|prompt)\\b",
    ],
  },
  {
    name: 'role_injection',
    severity: 'medium',
    finds: 'Text that imitates a message of the system.',
    patterns: [
      '(?:^|\\n)\\s{0,9}#{0,4}\\s?\\[?(?:system|developer|admin(?:istrator)?)(?:\\s+(?:message|prompt|override|note))?\\]?\\s{0,3}:\\s{0,9}(?:you|ignore|disregard|forget|from\\s+now|override|new\\s+instructions?)\\b',
      '\\bnew\\s+(?:system\\s+)?(?:instructions|directives|prompt)\\s*:\\s{0,9}(?:you|ignore|disregard|forget|from\\s+now)\\b',
      '</?(?:system|system_prompt|instructions)>\\s{0,9}(?:you|ignore|disregard|forget|from\\s+now|new)\\b',
    ],
  },
  {
    name: 'safety_bypass',
    severity: 'medium',
    finds: 'Requests to respond without safety rules.',
    patterns: [
      `\\b(?:bypass|disable|turn\\s+off|circumvent|evade|remove|switch\\s+off)\\s+(?:all\\s+)?(?:of\\s+)?your\\s+(?:[\\w'-]+\\s+){0,2}(?:filters?|safety|safeguards?|guardrails?|restrictions?|content\\s+polic(?:y|ies)|moderation|censorship|ethics)\\b`,
      "\\b(?:answer|respond|reply|act|speak|write)\\s+(?:[\\w'-]+\\s+){0,4}without\\s+(?:any\\s+)?(?:[\\w'-]+\\s+)?(?:restrictions|censorship|moral|ethical|safety|filters|guardrails)\\b",
      "\\bnever\\s+(?:refuse|decline|say\\s+no)\\s+(?:[\\w'-]+\\s+){0,3}(?:request|answer|question|instruction|order)s?\\b",
    ],
  },
  {
    name: 'encoded_instructions',
    severity: 'medium',
    finds: 'Orders to decode a text and follow it.',
    patterns: [
      `\\b(?:decode|decrypt|deobfuscate|translate)\\b[^.!?\\n]*\\b(?:and|then)\\s+(?:[\\w'-]+\\s+){0,2}(?:follow|execute|obey|perform|carry\\s+out|run|comply\\s+with)\\s+(?:[\\w'-]+\\s+){0,2}(?:it|them|instructions?|commands?|orders?|result)\\b`,
    ],
  },
  {
    name: 'hypothetical_framing',
    severity: 'low',
    finds: 'Fictional or hypothetical frames in which rules do not apply.',
    patterns: [
      `\\b(?:hypothetical(?:ly)?|imagine|fictional|pretend|role-?play)\\b[^.!?\\n]*\\b(?:no|without(?:\\s+any)?|free\\s+of)\\s+(?:[\\w'-]+\\s+)?(?:rules|restrictions|laws|ethics|guidelines|limits)\\b`,
    ],
  },
].map((guard) => ({
  ...guard,
  severity: guard.severity as Severity,
  patterns: guard.patterns.map((pattern) => `(?i)${pattern}`),
}));
