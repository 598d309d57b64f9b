import type { OutlookView, SessionView } from '../../api/contract/session-view.ts'
import { oneLine } from '../../lib/terminal-text.ts'
import type { Paint } from '../screen/paint.ts'
import { stateLine } from '../session/state.ts'

/** What was found of a session, and what comes next. */
export function outlookLines(session: SessionView | null, { found, next }: OutlookView, paint: Paint): string[] {
  const label = (text: string): string => paint.dim(text.padEnd(6))
  return [
    ...(session === null ? [] : [stateLine(session, paint)]),
    ...found.map((text, index) => `  ${label(index === 0 ? 'found' : '')} ${oneLine(text)}`),
    `  ${label('next')} ${oneLine(next)}`,
  ]
}
