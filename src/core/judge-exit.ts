import type { Exit, LastWord, Proof } from './session.ts'

export type ExitVerdict =
  | { readonly kind: 'done'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** It died before its work was over; trying again is worth it. */
  | { readonly kind: 'crashed'; readonly reason: string }

/** Decides what the end of an attempt means. An exit code alone never makes an agent's work done. */
export function judgeExit(proof: Proof, exit: Exit, word: LastWord | null): ExitVerdict {
  const how = describeExit(exit)
  if (proof === 'exit-code') {
    const isDone = exit.kind === 'code' && exit.code === 0
    return { kind: isDone ? 'done' : 'failed', reason: how }
  }
  if (word === null) return { kind: 'crashed', reason: `${how} before the agent ended its turn` }
  if (!word.ok) return { kind: 'failed', reason: `the agent ended its turn with a failure: ${word.text}` }
  if (exit.kind === 'code' && exit.code === 0) return { kind: 'done', reason: `the agent ended its turn, ${how}` }
  return { kind: 'crashed', reason: `${how} although the agent had ended its turn` }
}

export function describeExit(exit: Exit): string {
  switch (exit.kind) {
    case 'code':
      return `exit code ${exit.code}`
    case 'signal':
      return `killed by ${exit.signal}`
    case 'vanished':
      return `gone without an exit record (${exit.evidence})`
  }
}
