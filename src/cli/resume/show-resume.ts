import type { ResumePreview, SessionView } from '../../api/contract/responses.ts'
import { shownName } from '../../api/contract/shown-name.ts'
import { toOneLine } from '../../lib/text/strip-terminal-controls.ts'
import type { Paint } from '../terminal/colors.ts'
import { stateLine } from '../session/format-session.ts'
import type { ParsedArgs } from '../args/parsed-args.ts'
import { toJson } from '../terminal/format.ts'
import { followSession } from '../session/follow-session.ts'
import type { CommandContext } from '../context.ts'
import { OPTIONS } from '../args/options.ts'

/** Describes the state of a session, and the next step. */
export function previewLines(session: SessionView | null, { found, next }: ResumePreview, paint: Paint): string[] {
  const label = (text: string): string => paint.dim(text.padEnd(6))
  return [
    ...(session === null ? [] : [stateLine(session, paint)]),
    ...found.map((text, index) => `  ${label(index === 0 ? 'found' : '')} ${toOneLine(text)}`),
    `  ${label('next')} ${toOneLine(next)}`,
  ]
}

/** Prints a resumed session, and follows it on request. */
export async function showResumed(
  session: SessionView,
  message: string,
  args: ParsedArgs,
  context: CommandContext,
  logOffset: number,
): Promise<number> {
  const { out, err, isQuiet } = context.screen
  if (args.has(OPTIONS.follow)) {
    if (!isQuiet) err.printLine(`${message}  (Ctrl-C leaves it running)`)
    return await followSession(context, session, {
      log: { raw: false, colour: out.isColoured, after: logOffset },
      passStatus: true,
    })
  }
  if (args.has(OPTIONS.json)) out.printLine(toJson(session))
  else if (isQuiet || !out.isTerminal) out.printLine(shownName(session))
  else out.printLine(message)
  return 0
}
