import type { Line } from '../line/line.ts'
import type { Surroundings } from '../surroundings.ts'
import { OPTIONS } from '../table/options.ts'

export async function demo(line: Line, { hooks }: Surroundings): Promise<number> {
  return await hooks.demo({ keep: line.has(OPTIONS.keep) })
}
