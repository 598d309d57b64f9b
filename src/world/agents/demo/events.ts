/** What the demo agent says, one JSON object per line. */
export type DemoEvent =
  | { readonly type: 'thread.started'; readonly thread: string; readonly resumed: boolean }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'step'; readonly step: number; readonly of: number }
  | { readonly type: 'tool'; readonly tool: string; readonly gist: string; readonly path?: string }
  | { readonly type: 'approval.requested'; readonly question: string }
  | { readonly type: 'approval.answered'; readonly answer: string }
  /** `bytes`: what this process had written to stdout before this line, so that nothing can be lost unnoticed. */
  | { readonly type: 'turn.ended'; readonly ok: boolean; readonly text: string; readonly bytes: number }
