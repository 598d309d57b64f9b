import { isatty } from 'node:tty'
import type { Line } from '../line/line.ts'
import { OPTIONS } from '../table/options.ts'
import { type Outlet, openOutlet } from './outlet.ts'
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
  const open = (stream: NodeJS.WriteStream): Outlet =>
    openOutlet(stream, wantsColour(choice, env, stream.isTTY === true))
  let out: Outlet | undefined
  let err: Outlet | undefined
  return {
    // Node makes its streams when they are first touched; a short command touches one.
    get out() {
      out ??= open(process.stdout)
      return out
    },
    get err() {
      err ??= open(process.stderr)
      return err
    },
    mayAsk: isatty(0) && isatty(2) && line?.has(OPTIONS.noInput) !== true,
    isQuiet: line?.has(OPTIONS.quiet) === true,
  }
}
