import { type Home, homeExists } from '../world/os/home.ts'
import { readLoop } from '../world/os/loop-file.ts'
import { readOne } from '../world/store/read.ts'

/** The line that must pass for a session's work to be called done, as it was started; null where none was given. */
export function askedCheck(home: Home, id: string): string | null {
  if (!homeExists(home)) return null
  return readOne(home, id)?.spec.verify?.check ?? readLoop(home, id)?.spec.check?.line ?? null
}
