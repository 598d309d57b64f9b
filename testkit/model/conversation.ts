/** A request in a form independent of the dialect. */
export interface Conversation {
  readonly model: string
  readonly isStreamed: boolean
  readonly tools: readonly Tool[]
  readonly items: readonly Item[]
}

/** User text is without the additions of the programs. */
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

/** A tool call of the scripted model. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly type: Tool['type']
  readonly input: Readonly<Record<string, unknown>>
}

/** Returns the text of a content that is a string or a list of parts; ignores parts without text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join('')
}
