import type { LoopRequest } from '../api/contract/loop-request.ts'
import type { Spec } from '../core/session.ts'

/** The list of a loop, relative to its folder; null for the project's task tracker. */
export function listOf({ argv }: Pick<Spec, 'argv'>): string | null {
  return (JSON.parse(argv.at(-1) ?? '{}') as Partial<LoopRequest>).list ?? null
}

export function listNamed(spec: Pick<Spec, 'argv'>): string {
  return listOf(spec) ?? 'the issues of beads'
}
