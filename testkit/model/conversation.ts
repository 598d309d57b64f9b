/** A request in neutral words. */
export interface Conversation {
  readonly model: string
  readonly isStreamed: boolean
  readonly tools: readonly Tool[]
  readonly items: readonly Item[]
}

/** What the user said is given without what the programs add to it. */
export type Item =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'said'; readonly text: string }
  | { readonly kind: 'called'; readonly id: string }
  | { readonly kind: 'result'; readonly id: string; readonly text: string }

export interface Tool {
  readonly name: string
  readonly type: 'function' | 'local_shell'
  readonly properties: Readonly<Record<string, { readonly type?: string | readonly string[] }>>
}

/** A tool call that the scripted model makes. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly type: Tool['type']
  readonly input: Readonly<Record<string, unknown>>
}

/** A text or a list of parts, of which those with a text count. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join('')
}
