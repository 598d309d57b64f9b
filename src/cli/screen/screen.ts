import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'
import { isTerminal } from './is-terminal.ts'
import { Outlet } from './outlet.ts'
import { wantsColour } from './paint.ts'

/** What a command speaks through. Data goes to `out`, everything else to `err`. */
export interface Screen {
  readonly out: Outlet
  readonly err: Outlet
  /** Somebody sits at a terminal and has not said --no-input. */
  readonly mayAsk: boolean
  readonly isQuiet: boolean
}

/** Without a line, as when it could not be understood, only the environment decides. */
export function openScreen(line: Line | undefined, env: NodeJS.ProcessEnv): Screen {
  const choice = line?.value(OPTIONS.color)
  const colour = (isSeen: boolean): boolean => wantsColour(choice, env, isSeen)
  return {
    out: new Outlet(1, colour),
    err: new Outlet(2, colour),
    get mayAsk() {
      return isTerminal(0) && isTerminal(2) && line?.has(OPTIONS.noInput) !== true
    },
    isQuiet: line?.has(OPTIONS.quiet) === true,
  }
}
