/** What must be done in the world. Recorded before it is performed, and safe to perform again. */
export type Effect =
  | { readonly type: 'launch'; readonly attempt: number }
  | { readonly type: 'interrupt'; readonly attempt: number }
  | { readonly type: 'terminate'; readonly attempt: number }
  /** End whatever is left of the attempt's tree, politely first; `kill` is not polite. */
  | { readonly type: 'sweep'; readonly attempt: number }
  | { readonly type: 'kill'; readonly attempt: number }
  /** Close the session's panes; its files stay. */
  | { readonly type: 'close' }

export type EffectType = Effect['type']
