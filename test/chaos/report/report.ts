import type { Result } from './result.ts'
import { markdownOf } from './table.ts'

/** The page that is committed. It is written by the suite and by nobody else. */
export function reportOf(result: Result): string {
  return `# Chaos\n\n${markdownOf(result)}\n`
}
