import type { Line } from '../line/line.ts'
import { toJson } from '../screen/json.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'
import { VERSION } from '../../lib/version.ts'

export async function version(line: Line, { screen }: Surroundings): Promise<number> {
  const details = { version: VERSION, node: process.versions.node, system: `${process.platform} ${process.arch}` }
  screen.out.say(line.has(OPTIONS.json) ? toJson(details) : VERSION)
  return 0
}
